package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"acp-agent/acp"
	"acp-agent/acp/rpc"
)

// gcPercent trades a little processor time for memory: an agent stays open as
// long as its editor (docs/performance.md).
const gcPercent = 50

// serve serves ACP on stdin and the process's own stdout, which from then on
// belongs to the protocol alone.
func serve(ctx context.Context, stdin io.Reader, stderr io.Writer) error {
	stdout, err := rpc.TakeStdout()
	if err != nil {
		return fmt.Errorf("take stdout: %w", err)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	core := newCore(stderr)
	defer core.Close()
	err = acp.Serve(ctx, stdin, stdout, acp.Options{Core: core, Version: version, Logger: core.logger.Logger})
	if errors.Is(err, context.Canceled) {
		return nil // a signal asked us to end, and we did
	}
	return err
}
