package run

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"acp-agent/internal/launch"
	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// Run runs one command, in the client's terminal when it offers that, else as
// our own child. When ctx or the call ends it returns at once.
func (c *Commands) Run(ctx context.Context, cmd tools.ShellCommand, output io.Writer) (tools.Exit, error) {
	dir, err := c.workingDir(cmd)
	if err != nil {
		return tools.Exit{}, err
	}
	ctx, over, err := c.slot(ctx, cmd.Text)
	if err != nil {
		return tools.Exit{}, err
	}
	defer over()
	confined, err := c.prepare(ctx, cmd, dir, c.granted())
	if err != nil {
		return tools.Exit{}, err
	}
	ctx, stop := confined.clock.start(ctx, cmd.Limit)
	defer stop()
	return c.follow(ctx, confined, output)
}

// start starts a command that goes on after the call, as a job of an agent.
func (c *Commands) start(ctx context.Context, cmd tools.ShellCommand, agent string) (tools.Job, error) {
	dir, err := c.workingDir(cmd)
	if err != nil {
		return tools.Job{}, err
	}
	limit := c.runner.w.Limits.JobAge
	if cmd.Limit > 0 {
		limit = min(limit, cmd.Limit)
	}
	info := tools.Job{Command: cmd.Text, Dir: cmd.Dir, CallID: c.call.ID, Agent: agent}
	return c.runner.jobs.start(ctx, info, limit, func(ctx context.Context, started func(jobNetwork), output io.Writer) (tools.Exit, error) {
		grant := c.granted()
		grant.Connect, grant.Login, grant.LoginEnv = grant.ConnectLater, nil, nil
		confined, err := c.prepare(ctx, cmd, dir, grant)
		if err != nil {
			return tools.Exit{}, err
		}
		confined.job = func(p *launch.Process) { started(c.runner.network(&confined, p)) }
		redacted, flush := c.redacted(output)
		defer flush()
		return c.follow(ctx, confined, redacted)
	})
}

// workingDir is the directory that a command is to start in.
func (c *Commands) workingDir(cmd tools.ShellCommand) (string, error) {
	if c.runner.o.Launcher == nil {
		return "", tools.Errorf(tools.Unavailable, "commands cannot be run in this session")
	}
	return c.runner.w.WorkingDir(cmd.Dir)
}

// prepare puts a command into its sandbox.
func (c *Commands) prepare(ctx context.Context, cmd tools.ShellCommand, dir string, grant Grant) (confined, error) {
	spec, err := c.runner.spec(cmd.Text, dir, grant)
	if err != nil {
		return confined{}, err
	}
	spec.Env = replaceEnv(c.environ(spec.Env), grant.LoginEnv)
	made, err := c.runner.confine(ctx, spec, grant)
	if err == nil {
		made.limit(c.runner.w.Limits.Command, grant.Bounded)
	}
	return made, err
}

// follow runs a command in its sandbox to its end.
func (c *Commands) follow(ctx context.Context, cmd confined, output io.Writer) (tools.Exit, error) {
	out := &closableOutput{to: output}
	defer out.shut()
	tail := textcut.NewTail(maxTail)
	both := io.MultiWriter(tail, out)
	exit, done, err := c.inTerminal(ctx, cmd, both)
	if !done {
		exit, err = c.locally(ctx, cmd, launch.Streams{Output: both})
	}
	// What the user could grant is noted with a call, which can be made again.
	noted := c.call.Context.Err() == nil
	if err == nil && exit.Code != 0 && noted {
		c.noteLacking(&exit, cmd, tail)
	}
	if err == nil && noted {
		c.noteKept(&exit, cmd, tail)
	}
	if err == nil {
		exit.Notes = append(exit.Notes, cmd.proxy.notes()...)
	}
	return exit, err
}

// locally runs the command as our own child.
func (c *Commands) locally(ctx context.Context, cmd confined, streams launch.Streams) (tools.Exit, error) {
	process, err := c.runner.o.Launcher.StartStreams(ctx, cmd.Spec, streams)
	if err != nil {
		c.runner.endUnreported(cmd) // a cancelled start may have come far
		return tools.Exit{}, commandError(ctx, err)
	}
	c.runner.group.Add(process)
	cmd.reportStart(process)
	expired := cmd.limitTime(process)
	status, err := process.Wait(ctx)
	overdue := expired()
	switch failed := status.ExitCode != 0 || status.Signal != ""; {
	case err != nil:
		err = commandError(ctx, err)
	case failed && cmd.job == nil: // it, or a part of it, may have been killed with its call
		err = cmp.Or(context.Cause(ctx), context.Cause(c.call.Context))
	}
	if err != nil {
		c.runner.endAfterAnswer(cmd, process)
		process.Stop(launch.StopGrace)
		return tools.Exit{}, err
	}
	exit := exitOf(status)
	exit.Notes = slices.Concat(cmd.exceeded(status, overdue), c.endOf(cmd))
	return exit, nil
}

func exitOf(s launch.Status) tools.Exit { return tools.Exit{Code: s.ExitCode, Signal: s.Signal} }

func commandError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &tools.Error{
		Kind: tools.Backend, Err: err,
		Message: "the command could not be run: " + strings.TrimPrefix(err.Error(), "launch: "),
	}
}

// spec describes a command, with the session's shell and scrubbed environment. One that
// runs unasked because it only reads has nothing of what the user passes to commands, and
// finds no programs of the project.
func (r *Runner) spec(text, dir string, grant Grant) (launch.Spec, error) {
	r.setUp.Do(func() { r.setUpCommands() })
	if r.err != nil {
		return launch.Spec{}, &tools.Error{Kind: tools.Unavailable, Err: r.err, Message: strings.TrimPrefix(r.err.Error(), "launch: ")}
	}
	// The model knows the scratch directory, so it must be there. A command
	// that does not use it runs without it.
	_ = r.w.Private.Create()
	env := r.env
	switch {
	case grant.Reading:
		env = r.readingEnv
	case grant.Trusted && len(grant.LoginEnv) == 0:
		env = r.projectEnv
	}
	return launch.Spec{Text: text, Shell: r.shell, Dir: dir, Env: env}, nil
}

// setUpCommands finds the shell and makes the environment, when the first
// command needs them.
func (r *Runner) setUpCommands() {
	inside := r.writable()
	o := launch.EnvOptions{Secrets: r.o.Secrets, Workspace: inside, Set: r.o.SetEnv}
	r.readingEnv, _ = launch.Env(r.o.Environ, o)
	r.env = r.readingEnv
	if len(r.o.Passed) > 0 {
		o.Passed = r.o.Passed
		r.env, _ = launch.Env(r.o.Environ, o)
	}
	o.ProjectPrograms = true
	r.projectEnv, _ = launch.Env(r.o.Environ, o)
	if r.shell = r.o.Shell; r.shell.Path != "" {
		return
	}
	r.shell, r.err = launch.FindShell(variable(r.env, "PATH"), inside)
}

func variable(env []string, name string) string {
	for _, entry := range env {
		if n, value, ok := strings.Cut(entry, "="); ok && n == name {
			return value
		}
	}
	return ""
}
