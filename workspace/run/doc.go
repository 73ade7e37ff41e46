// Package run runs the commands and programs of a session: locally or in a
// terminal of the client, in a sandbox, with limits, a bounded number at once, and
// an end that leaves no process.
//
// It owns the environment and the shell of commands, their processes, the request to the sandbox,
// and what happens after a command: the guard compares the files that a sandbox cannot keep from it
// (a repository's configuration and hooks, the agent's own directories, names by which other
// programs run code), puts them back, and names them in the result. What the command left in their
// place is moved aside ([MovedAside]). The package also knows where in the session's directories secrets and
// protected names lie.
//
// It owns the commands in the background ([Jobs]): what each printed, within a bound of
// memory and disk, and how it ended. [JobView] is what an agent sees of them.
//
// It does not judge: what a command may do is its [Grant]. It resolves no path of a
// tool and records no change of a file; package workspace says, in a [Workspace],
// which directories there are and what the session's tools changed. It imports
// tools, workspace/undo/journal, workspace/private, internal/gitdir, internal/launch, internal/pathname, internal/redact,
// internal/rootfile, internal/textcut, internal/userfile and sandbox.
//
// Goroutines: each job has two, which [Runner.Close] ends and waits for; internal/launch owns
// those of commands. [Runner.WaitForAbandoned] and [Runner.Close] wait for work that outlives its
// call, such as the release of a client's terminal after a cancelled command.
//
//	runner := run.New(options, workspace)
//	defer runner.Close(launch.ShutdownGrace)
//
//	commands := runner.Commands(run.Call{ID: callID, Tool: "bash", Context: ctx})
//	exit, err := commands.Run(ctx, tools.ShellCommand{Text: "make"}, output)
//
// # Requirements
//
// R59 (commands), R149 (close), R153 (what a cancelled call leaves), R156 (terminals).
// docs/security.md P5, S2-S4, X1, X4, X5.
package run
