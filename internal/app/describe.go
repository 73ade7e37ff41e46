package app

import (
	"context"
	"errors"
	"os"

	"acp-agent/internal/launch"
	"acp-agent/sandbox"
	"acp-agent/tools/mount"
)

// describe runs a module's executable once, to ask it what it is or to have it clean up.
// It gets the short environment of a tool's program, writes nothing, has no network, where
// that can be had, unless the call says so (B1), and is ended with all that it started.
func (c *core) describe(ctx context.Context, call mount.Describing) ([]byte, error) {
	if c.readOnly {
		return nil, errors.New("it has to be started to say what it is, and nothing is started to explain a call")
	}
	confined, err := c.box.Confine(ctx, sandbox.Request{Programs: []string{call.Dir, call.Args[0]}, Network: call.Network})
	if err != nil {
		return nil, err
	}
	defer confined.Release()
	spec := launch.Spec{
		Argv: call.Args, Dir: call.Dir,
		Env: append(launch.ProgramEnv(os.Environ(), launch.EnvOptions{Secrets: c.secrets(), Set: call.Env}), confined.Env...),
	}
	if spec.Policy, err = confined.Policy.Encode(); err != nil {
		return nil, err
	}
	return c.printed(ctx, spec, nil, mount.MaxDescribed+1, 0) // one byte more shows that it is too long
}
