package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"acp-agent/internal/launch"
	"acp-agent/sandbox"
)

func main() {
	// The helper form comes first: it is started once a command and must not
	// pay for anything the agent needs.
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case launch.HelperArg:
			os.Exit(launch.Helper(os.Args[2:], sandbox.Step))
		case sandbox.InnerArg:
			os.Exit(sandbox.Inner(os.Args[2:]))
		case sandbox.CanaryArg:
			os.Exit(sandbox.Canary(os.Args[2:], os.Stdout))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := harden(); err != nil {
		fmt.Fprintln(stderr, "acp-agent: this process cannot be shielded from others of the same user:", err)
	}
	root := newRoot(stdin, stdout, stderr)
	root.SetArgs(args)
	return exitCode(root.ExecuteContext(ctx), stderr)
}
