package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"acp-agent/internal/egress"
	"acp-agent/internal/launch"
	"acp-agent/internal/netns"
	"acp-agent/sandbox"
	"acp-agent/tools"
)

// StandIns replace parts of the agent in tests of the whole program. The product sets
// none.
type StandIns struct {
	// Tools, unless nil, returns tools to add to the built-in ones.
	Tools func() []tools.Tool
	// Sandbox, unless nil, returns what says how processes can be confined.
	Sandbox func() *sandbox.Probe
	// Helper, unless empty, is the binary to start as the helper.
	Helper string
	// FirstWait, unless zero, is how long the first prompt waits for sources of tools.
	FirstWait time.Duration
}

// standIns are the stand-ins that Main was given. They are global because each subcommand makes a
// core of its own.
var standIns StandIns

// Main runs the command line of this process, or the helper that it was started as, and
// returns the exit code.
func Main(with StandIns) int {
	// A helper is started for each command, so it must not spend time on what only the agent
	// needs.
	if IsHelper() {
		return helper(os.Args[1], os.Args[2:])
	}
	standIns = with
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// IsHelper reports whether the agent started this process as one of its helpers.
func IsHelper() bool {
	return len(os.Args) > 1 && slices.Contains([]string{launch.HelperArg, netns.HoldArg, sandbox.ConnectArg, sandbox.LoginArg, sandbox.InnerArg, sandbox.CanaryArg}, os.Args[1])
}

// newLauncher starts commands by means of our own binary.
func newLauncher() (*launch.Launcher, error) {
	if standIns.Helper != "" {
		return &launch.Launcher{Self: standIns.Helper}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find our own binary: %w", err)
	}
	return &launch.Launcher{Self: self}, nil
}

func helper(name string, args []string) int {
	switch name {
	case launch.HelperArg:
		return launch.Helper(args, sandbox.Step)
	case netns.HoldArg:
		return netns.Hold()
	case sandbox.ConnectArg:
		return egress.Connect(args, os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	case sandbox.LoginArg:
		return egress.GitLogin(args, os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	case sandbox.InnerArg:
		return sandbox.Inner(args)
	default:
		return sandbox.Canary(args, os.Stdout)
	}
}

// run runs a command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := harden(); err != nil {
		fmt.Fprintln(stderr, "acp-agent: this process cannot be shielded from others of the same user:", err)
	}
	root := newRoot(stdin, stdout, stderr)
	root.SetArgs(args)
	return exitCode(root.ExecuteContext(ctx), stderr)
}
