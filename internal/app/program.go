package app

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/internal/textcut"
)

// maxProgramErrors bounds what is kept of the errors of a program, in bytes.
const maxProgramErrors = 1 << 10

// printed runs a program of the user's own to its end, with input, and returns what it
// printed, of which no more than most bytes are kept. Another exit code than 0 is an
// error that quotes the program. When ctx ends first, the program is killed with all that
// it started; grace bounds the wait for that, and 0 means that nothing does.
func (c *core) printed(ctx context.Context, spec launch.Spec, input []byte, most int, grace time.Duration) ([]byte, error) {
	out, errs := textcut.NewHead(most), textcut.NewHead(maxProgramErrors)
	process, err := c.launcher.StartStreams(ctx, spec, launch.Streams{Input: input, Output: out, Errors: errs})
	if err != nil {
		return nil, err
	}
	status, err := process.Wait(ctx)
	if err != nil {
		process.Stop(0)
		var late <-chan time.Time
		if grace > 0 {
			late = time.After(grace)
		}
		select {
		case <-process.Done():
		case <-late:
		}
		return nil, err
	}
	if status.ExitCode != 0 {
		return nil, fmt.Errorf("it ended with exit code %d: %s", status.ExitCode, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}
