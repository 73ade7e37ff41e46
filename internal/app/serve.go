package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"acp-agent/acp"
	"acp-agent/acp/rpc"
	"acp-agent/kinds"
)

// greeting is for a user who starts the agent by hand.
const greeting = `This is acp-agent, a coding agent for editors. It waits for an editor to speak
the Agent Client Protocol on standard input; Ctrl-D ends it.

  acp-agent demo          see it at work, without a key or a network
  acp-agent login         choose a model server
  acp-agent run "..."     run one prompt here
  acp-agent doctor        find out what works on this machine
  acp-agent --help        all commands
`

// greet explains the program when its input is a terminal. An editor that starts the agent in
// a terminal of its own is served all the same.
func greet(stdin io.Reader, stderr *os.File) {
	in, ok := stdin.(*os.File)
	if ok && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(stderr.Fd())) {
		fmt.Fprint(stderr, greeting)
	}
}

// serve serves ACP on the process's own stdin, stdout and stderr. Stdout belongs to the
// protocol alone from then on, and stderr to the log.
func serve(ctx context.Context, stdin io.Reader, recording string) error {
	greet(stdin, os.Stderr)
	stderr, err := rpc.TakeStderr()
	if err != nil {
		return fmt.Errorf("take stderr: %w", err)
	}
	core := newCore(stderr)
	recorder, err := core.record(recording)
	if err != nil {
		stderr.Restore()
		return &exitError{exitUsage, err}
	}
	defer core.endRecord(recorder)
	core.logger.faultsAlone()
	stderr.Relay(&core.logger.stderr)
	defer core.logger.flush()
	defer stderr.Restore()
	defer core.Close()
	stdout, err := rpc.TakeStdout()
	if err != nil {
		return fmt.Errorf("take stdout: %w", err)
	}
	deferCollector()
	core.pacesCollector = true
	err = acp.Serve(ctx, stdin, stdout, acp.Options{Core: core, Version: version, Login: core.login(), OnLine: onLine(recorder), Logger: core.logger.Logger})
	if err == nil || errors.Is(err, context.Canceled) {
		return nil // a signal ended the agent in good order
	}
	// main would wait for stderr to print the error.
	fmt.Fprintln(&core.logger.stderr, "acp-agent:", kinds.Visible(err.Error()))
	return &exitError{exitOf(err), nil}
}
