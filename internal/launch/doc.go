// Package launch runs one judged shell command, or one program by its arguments,
// in a process tree that can be ended as a whole.
//
// It owns the way from a command's text to the processes it becomes: the shell
// that runs it ([FindShell]) or the program ([FindProgram]), the environment it
// sees ([Env], [ProgramEnv]), its limits ([Limits]), its streams, its sockets, its exit status, and its
// end. Between the agent and the shell stands a helper, our own binary started again with [HelperArg]. On
// Linux the helper is the subreaper of one command at a time, so whatever the
// command leaves behind (background jobs, `setsid` children, daemons that
// forked twice) still belongs to it; it asks them to end, kills them when they
// do not, and only then reports. It does the same when the agent dies, which it
// learns from the end of a pipe. On Windows a job object does this work. On
// macOS there is neither: the helper ends the shell's process group and every
// process it can still reach through parent links, and a daemon that forked
// twice and left its group gets away.
//
// The helper has two forms with one protocol. [Launcher.StartStreams] runs it as the
// agent's child, over two channels and the command's streams: specs and stop requests go in, records come
// back, and the command writes its output straight into a pipe. It and [Launcher.StartPiped] can hand the helper
// up to two pipes more, for the command's own input and its errors. On Linux the streams come with the spec;
// elsewhere the helper inherits them. [Launcher.PrepareTerminal] lets a client run it in a terminal of
// its own: control, output and status are named pipes in a private directory, and
// the helper copies the output to the terminal as well.
//
// [Launcher.Warm] starts a helper before there is a command for it, and on Linux one whose command is gone
// waits for the next: to start our binary takes longer than most commands. Nothing of a command, its
// sandbox or its limits is in force in such a helper: sandbox and limits are those of a thread that ended with the
// command, and of the command's own processes. One of whose command something is left, or that could not start one, or
// got a signal or other limits, ends.
//
// The package does not judge commands, does not know tools, sessions or the
// protocol, does not store output, and builds no sandbox: the caller of
// [Helper] passes the steps that change what is started ([Start]) or restrict the
// thread that starts it. It may import
// the standard library, golang.org/x/sys and internal/cgroup.
//
// Goroutines: every [Process] has one for each stream that it copies or feeds,
// which ends at the end of the pipe, one that waits for those, and one that
// reads the helper's records and ends with the helper. [Process.Wait] waits for
// all of them. A stopped process also has a timer,
// ended with the process. [Launcher.Warm] starts one, which ends when the helper is started or
// the helper that makes room for it has ended, and a timer, as does a helper that waits again; [Launcher.Dismiss] waits for the
// start and stops the timer. A [Group] has none. In the helper one goroutine reads what the agent sends and one takes signals, as long
// as the process lives; the others end with the command.
//
//	func main() {
//		if len(os.Args) > 1 && os.Args[1] == launch.HelperArg {
//			os.Exit(launch.Helper(os.Args[2:]))
//		}
//		...
//	}
//
//	p, err := l.StartStreams(ctx, launch.Spec{Text: "make", Shell: sh, Dir: dir, Env: env}, launch.Streams{Output: out})
//	if err != nil { ... }
//	group.Add(p)
//	status, err := p.Wait(ctx)
//	if err != nil { // the turn was cancelled
//		p.Stop(launch.StopGrace)
//	}
//
// # Requirements
//
// R54 (bash, else sh; nothing persists), R55 (an exit code is an output, a
// failed start an error), R58 (kill the whole tree, TERM then KILL, never hang
// on a grandchild that holds the pipe, empty stdin, no terminal), R149 and R153
// (close and cancel leave no process), R156 (terminals of the client).
// docs/security.md C7, C10, X1 to X5 and S6.
package launch
