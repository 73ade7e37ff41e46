package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"acp-agent/acp"
	"acp-agent/acp/rpc"
)

// serve serves ACP on stdin and the process's own stdout, which from then on
// belongs to the protocol alone.
func serve(ctx context.Context, stdin io.Reader, stderr io.Writer) error {
	stdout, err := rpc.TakeStdout()
	if err != nil {
		return fmt.Errorf("take stdout: %w", err)
	}
	logger := newLogger(stderr)
	core := newCore(logger)
	defer core.Close()
	err = acp.Serve(ctx, stdin, stdout, acp.Options{Core: core, Version: version, Logger: logger})
	if errors.Is(err, context.Canceled) {
		return nil // a signal asked us to end, and we did
	}
	return err
}
