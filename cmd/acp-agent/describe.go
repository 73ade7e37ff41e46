package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"acp-agent/internal/launch"
	"acp-agent/tools/mount"
)

// describe runs a module's executable once, to ask it what it is. It gets the
// short environment of a tool's program, and is ended with all that it started.
func (c *core) describe(ctx context.Context, call mount.Describing) ([]byte, error) {
	if c.inert {
		return nil, errors.New("it has to be started to say what it is, and nothing is started to explain a call")
	}
	var out, errs limited
	process, err := c.launcher.StartStreams(ctx, launch.Spec{
		Argv: call.Args, Dir: call.Dir,
		Env: launch.ProgramEnv(os.Environ(), launch.EnvOptions{Secrets: c.secrets(), Set: call.Env}),
	}, launch.Streams{Output: &out, Errors: &errs})
	if err != nil {
		return nil, err
	}
	status, err := process.Wait(ctx)
	if err != nil {
		process.Stop(0)
		<-process.Done()
		return nil, err
	}
	if status.ExitCode != 0 {
		return nil, fmt.Errorf("it ended with exit code %d: %s", status.ExitCode, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}

// limited keeps the first bytes of what is written, enough to tell that an answer is
// too long.
type limited struct{ bytes.Buffer }

// Write takes everything and keeps what there is room for.
func (l *limited) Write(p []byte) (int, error) {
	if room := mount.MaxDescribed + 1 - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
