// Package command judges the text of a shell command before it runs: allow, ask or
// deny, with one plain sentence and the part of the program that decided.
//
// It owns the policy default-v1: the parser walk over every node of the program, the
// tables of commands that only read with their vetted options, the classes that are
// denied (DN1-DN11), the findings that no stored rule lifts (R118), the tracking of
// the working directory, and the environment that keeps git from running what a
// repository configures (GitEnv). An expansion anywhere in a program, in whatever
// position, asks: no word is exempt from being looked at. Nothing is allowed unless a
// second reader takes the text apart as the parser does, and unless its text bounds its
// time and its output.
//
// It refuses to know the disk, processes and sessions: whether a path lies inside the
// roots, links followed, is asked of Env.Inside. A verdict is a pure function of the
// text and of what Env's functions answer; the model's own opinion of its call is no
// input. The package imports capability, permissions, internal/shell and the shell
// parser, and starts no goroutines. A caller that recovers a panic from here must take
// it as a deny.
//
//	v := command.Judge("git log --oneline | head -5", command.Env{
//		Cwd: "/w", Roots: []string{"/w"}, Home: "/home/ann", Inside: confine,
//	})
//	// v.Action is capability.Allow; v.Parts has two commands.
//	call.Resources = v.Resources()
//
// # Requirements
//
// R59, R116, R118-R121; C1-C6 and C8-C9 of the security rules.
package command
