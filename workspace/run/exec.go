package run

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"acp-agent/internal/launch"
	"acp-agent/tools"
)

// Exec runs one program by its arguments, with no shell between (C10). It takes
// one of the slots of the session's commands, and what holds of Run holds of it,
// but for the environment, which is the short list of X1.
func (c *Commands) Exec(ctx context.Context, program tools.Program, output io.Writer) (tools.Exit, error) {
	spec, err := c.runner.programSpec(program)
	if err != nil {
		return tools.Exit{}, err
	}
	spec.Env = c.environ(spec.Env)
	ctx, done, err := c.slot(ctx, program.Args[0])
	if err != nil {
		return tools.Exit{}, err
	}
	defer done()
	cmd, err := c.runner.confine(ctx, spec, c.granted())
	if err != nil {
		return tools.Exit{}, err
	}
	cmd.limit(c.runner.w.Limits.Command, false)
	out := &closableOutput{to: output}
	defer out.shut()
	streams := launch.Streams{Input: program.Stdin, Output: out}
	if program.Stderr != nil {
		errs := &closableOutput{to: program.Stderr}
		defer errs.shut()
		streams.Errors = errs
	}
	return c.locally(ctx, cmd, streams)
}

// slot waits for one of the session's slots for commands. ctx, which then also
// ends with the call, and the slot are given back by done.
func (c *Commands) slot(ctx context.Context, what string) (bound context.Context, done func(), err error) {
	bound, cancel := context.WithCancelCause(ctx)
	unbind := context.AfterFunc(c.call.Context, func() { cancel(endedError(what)) })
	release := func() {
		unbind()
		cancel(nil)
	}
	select {
	case c.runner.slots <- struct{}{}:
		return bound, func() {
			<-c.runner.slots
			release()
		}, nil
	case <-bound.Done():
		defer release()
		return nil, nil, context.Cause(bound)
	}
}

// programSpec describes a program that is run by its arguments: found on the
// swept PATH, in a directory of the session, with the short environment.
func (r *Runner) programSpec(program tools.Program) (launch.Spec, error) {
	if r.o.Launcher == nil {
		return launch.Spec{}, tools.Errorf(tools.Unavailable, "programs cannot be run in this session")
	}
	if len(program.Args) == 0 || program.Args[0] == "" {
		return launch.Spec{}, tools.Errorf(tools.BadInput, "no program to run")
	}
	dir, err := r.w.WorkingDir(program.Dir)
	if err != nil {
		return launch.Spec{}, err
	}
	env := launch.ProgramEnv(r.o.Environ, launch.EnvOptions{
		Secrets: r.o.Secrets, Workspace: r.writable(), Set: slices.Concat(r.o.SetEnv, program.Env),
	})
	path, ok := r.lookPath(program.Args[0], env)
	if !ok {
		return launch.Spec{}, notFound(program.Args[0])
	}
	return launch.Spec{Argv: append([]string{path}, program.Args[1:]...), Dir: dir, Env: env}, nil
}

// LookPath finds a program as Exec and StartProgram do: on the PATH less its
// relative entries and those inside the session's directories, or by an
// absolute path outside them.
func (r *Runner) LookPath(name string) (path string, ok bool) {
	return r.lookPath(name, launch.ProgramEnv(r.o.Environ, launch.EnvOptions{Secrets: r.o.Secrets, Workspace: r.writable()}))
}

func (r *Runner) lookPath(name string, env []string) (string, bool) {
	return launch.FindProgram(name, variable(env, "PATH"), r.writable())
}

func notFound(name string) *tools.Error {
	if filepath.IsAbs(name) {
		return &tools.Error{
			Kind:    tools.Unavailable,
			Message: fmt.Sprintf("there is no program %q that could be run", name),
			Detail:  "A program that lies in the working directory does not count: name an interpreter before it.",
		}
	}
	return &tools.Error{
		Kind:    tools.Unavailable,
		Message: fmt.Sprintf("the program %q is not on the PATH", name),
		Detail:  "A program that lies in the working directory does not count.",
	}
}

// writable are the directories in which a call may change files: nothing that
// lies there may take the place of a program.
func (r *Runner) writable() []string {
	var dirs []string
	for _, root := range r.w.Roots {
		if root.Write {
			dirs = append(dirs, root.Path)
		}
	}
	return dirs
}

func endedError(what string) *tools.Error {
	return &tools.Error{Kind: tools.Aborted, Path: what, Message: what + ": the call has ended"}
}
