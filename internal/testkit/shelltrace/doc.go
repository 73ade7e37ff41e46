// Package shelltrace runs commands in real bash, in an empty namespace and traced, for
// tests that hold what a command does against what the command judge said of it.
//
// It owns the namespace (bubblewrap: the system read-only, no network, nothing of the
// user), the seccomp filter that stops at the calls that matter, and the tracer that
// reads them: programs started, files opened or changed, sockets. It refuses to know
// what is allowed: the caller says which files may be read and compares the programs.
// It works on Linux on amd64 alone. Only tests import it; it imports
// internal/pathname, golang.org/x/sys and the standard library. Run locks its goroutine to a thread, and stops a timer of its own
// for each text before it returns.
//
//	box := shelltrace.Box{Bwrap: "/usr/bin/bwrap", Bash: "/usr/bin/bash", Mounts: []string{"--ro-bind", dir, dir}}
//	results, err := box.Run([]string{"ls", "cat a | wc -l"})
//	for _, r := range results {
//		fmt.Println(r.Programs, r.Offences, r.Output)
//	}
//
// # Requirements
//
// None of its own: it is the oracle for C1 and C7.
package shelltrace
