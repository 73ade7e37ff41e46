package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"acp-agent/internal/launch"
	"acp-agent/sandbox"
	"acp-agent/tools/mount"
)

// describe runs a module's executable once, to ask it what it is. It gets the
// short environment of a tool's program, writes nothing, has no network where that
// can be had (B1), and is ended with all that it started.
func (c *core) describe(ctx context.Context, call mount.Describing) ([]byte, error) {
	if c.inert {
		return nil, errors.New("it has to be started to say what it is, and nothing is started to explain a call")
	}
	walls, err := c.box.Confine(ctx, sandbox.Request{Readable: []string{call.Dir, filepath.Dir(call.Args[0])}})
	if err != nil {
		return nil, err
	}
	defer walls.Release()
	spec := launch.Spec{
		Argv: call.Args, Dir: call.Dir,
		Env: append(launch.ProgramEnv(os.Environ(), launch.EnvOptions{Secrets: c.secrets(), Set: call.Env}), walls.Env...),
	}
	if spec.Policy, err = walls.Policy.Encode(); err != nil {
		return nil, err
	}
	var out, errs limited
	process, err := c.launcher.StartStreams(ctx, spec, launch.Streams{Output: &out, Errors: &errs})
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
