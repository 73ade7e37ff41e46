// Package nsfork starts a program in namespaces of its own, in a view of the disk that is built
// for it, without a program between that does the building.
//
// A process of Go has many threads, so it cannot enter a user namespace itself, nor build anything
// in another one: only a process that was just forked can. Such a process must not run Go code that
// the runtime takes part in (no memory, no locks, no growing stack). So the parent writes down a
// [Script], a list of system calls with their arguments, and the child makes them one by one. It
// knows nothing of what they mean; the first that fails, unless it may, ends it, and its name and the
// error are the parent's.
//
// The child stays, as the first process of its namespace of processes: it adopts what the program
// leaves behind, and ends with the program, which ends all of that. Its exit code is the program's, or
// 128 and the signal's number.
//
// It owns the fork, and the pipes on which the child waits and reports. It refuses to know sandboxes,
// policies and what a command is.
//
//	var s nsfork.Script
//	s.MountNew("tmpfs", "/tmp", nsfork.NoSUID, "mode=0755")
//	pid, err := nsfork.Start(nsfork.Process{Argv: argv, Env: env, Files: files, Build: &s})
//
// Linux alone has this. Allowed imports: the standard library and golang.org/x/sys. Goroutines: none.
//
// # Requirements
//
// R124, S1.
package nsfork
