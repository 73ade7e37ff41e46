// Package sandbox confines the processes that the agent starts: the third layer,
// in addition to the capability check and the rules (R124).
//
// It owns what a machine can do about it ([Kind]), found out by confining a command
// of our own and looking at what that could do all the same ([Finder], [Probe]); what
// a command may reach ([Policy], made by a [Box] for all sessions); and how that is
// brought about, in the helper that starts the command ([Step]). Under [Bubblewrap]
// the helper puts the system's bwrap before the command, under [Namespaces] it starts the command in what bwrap
// would make, under [Landlock] it restricts the thread that starts it, and on macOS it puts sandbox-exec before it. On
// Linux a filter of system calls goes with both.
//
// Of the home a command sees an allow-list (homelist.go, [Box.HomeReport]): what
// toolchains need, without what holds a credential.
//
// A policy is exact where the kind is, and the rest is said ([Report.Notes]):
// Landlock can grant and not take away, so what must not change inside a writable
// directory is not its to keep. The caller compares and puts back (workspace).
// Nothing takes the place of a kind that the user requires.
//
// It does not judge commands and asks no one. It imports internal/launch,
// internal/nsfork, internal/redact, the standard library and golang.org/x/sys.
//
// Goroutines: [Probe.Start] starts one, which ends when the finding is made and kept for
// the next process ([Memory]); [Probe.Stop] ends it and waits.
//
//	box := &sandbox.Box{Probe: sandbox.NewProbe(finder.Find), Home: home, Own: own}
//	c, err := box.Confine(ctx, sandbox.Request{Roots: roots, Writable: roots})
//	if err != nil { ... } // the command must not run
//	spec.Policy, err = c.Policy.Encode()
//	...
//	c.Release() // once nothing of the command is left
//
// # Requirements
//
// R124. docs/security.md S1 to S7, X4.
package sandbox
