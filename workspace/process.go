package workspace

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/launch"
	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// runner is the commands of a session.
type runner struct {
	group launch.Group
	slots chan struct{} // a token for each command that runs

	setUp sync.Once
	shell launch.Shell
	env   []string
	err   error

	mu     sync.Mutex
	behind []<-chan struct{} // work that outlives its call
	late   []string          // notes of commands that were stopped
	asides []Aside           // what was moved aside after them
}

// processes is the commands of one call.
type processes struct{ *Call }

// Run runs one command, in the client's terminal when it offers that, else as
// our own child. When ctx or the call ends it returns at once.
func (p processes) Run(ctx context.Context, cmd tools.ShellCommand, output io.Writer) (tools.Exit, error) {
	if p.w.o.Launcher == nil {
		return tools.Exit{}, tools.Errorf(tools.Unavailable, "commands cannot be run in this session")
	}
	dir, err := p.w.commandDir(cmd.Dir)
	if err != nil {
		return tools.Exit{}, err
	}
	ctx, over, err := p.slot(ctx, cmd.Text)
	if err != nil {
		return tools.Exit{}, err
	}
	defer over()
	spec, err := p.w.spec(cmd.Text, dir)
	if err != nil {
		return tools.Exit{}, err
	}
	spec.Env = p.environ(spec.Env)
	confined, err := p.w.confine(ctx, spec, p.granted())
	if err != nil {
		return tools.Exit{}, err
	}
	confined.limit(p.w.o.Limits.Command, p.granted().Bounded)
	out := &gate{to: output}
	defer out.shut()
	tail := textcut.NewTail(maxTail)
	both := io.MultiWriter(tail, out)
	exit, done, err := p.inTerminal(ctx, confined, both)
	if !done {
		exit, err = p.locally(ctx, confined, launch.Streams{Output: both})
	}
	if err == nil && exit.Code != 0 {
		p.noteLacking(&exit, confined, tail)
	}
	if err == nil {
		p.noteKept(&exit, confined, tail)
	}
	return exit, err
}

// locally runs the command as our own child.
func (p processes) locally(ctx context.Context, cmd confined, streams launch.Streams) (tools.Exit, error) {
	process, err := p.w.o.Launcher.StartStreams(ctx, cmd.Spec, streams)
	if err != nil {
		p.w.runner.tellLater(cmd) // a cancelled start may have come far
		return tools.Exit{}, commandError(ctx, err)
	}
	p.w.runner.group.Add(process)
	late := cmd.bound(process)
	status, err := process.Wait(ctx)
	overdue := late()
	if err != nil {
		p.w.endLater(cmd, process)
		process.Stop(launch.StopGrace)
		return tools.Exit{}, commandError(ctx, err)
	}
	exit := exitOf(status)
	exit.Notes = slices.Concat(cmd.exceeded(status, overdue), p.w.runner.lateNotes(), p.endOf(cmd))
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

// commandDir resolves a working directory, which must lie in the session's
// roots: what the person granted to a call is for reading alone (R59).
func (w *Workspace) commandDir(path string) (string, error) {
	abs := w.abs(path)
	t, err := w.follow(abs)
	if err != nil {
		return "", err
	}
	r, _ := pick(w.roots(""), t, false)
	switch {
	case r == nil || w.foreign(t, r):
		return "", w.outside(t, false)
	case !t.exists():
		return "", &tools.Error{Kind: tools.BadInput, Path: abs, Message: "the working directory " + abs + " does not exist"}
	case !t.isDir():
		return "", &tools.Error{Kind: tools.BadInput, Path: abs, Message: "the working directory " + abs + " is not a directory"}
	}
	return t.real(), nil
}

// spec describes a command, with the session's shell and scrubbed environment.
func (w *Workspace) spec(text, dir string) (launch.Spec, error) {
	r := &w.runner
	r.setUp.Do(func() { w.setUpCommands() })
	if r.err != nil {
		return launch.Spec{}, &tools.Error{Kind: tools.Unavailable, Err: r.err, Message: strings.TrimPrefix(r.err.Error(), "launch: ")}
	}
	// The model is told of the scratch directory, so it must be there. A command
	// that does not use it runs without it.
	_ = w.private.Create()
	return launch.Spec{Text: text, Shell: r.shell, Dir: dir, Env: r.env}, nil
}

// setUpCommands finds the shell and makes the environment, when the first
// command needs them.
func (w *Workspace) setUpCommands() {
	inside := w.writable()
	r := &w.runner
	r.env, _ = launch.Env(w.o.Environ, launch.EnvOptions{Secrets: w.o.Secrets, Workspace: inside, Set: w.o.SetEnv})
	if r.shell = w.o.Shell; r.shell.Path != "" {
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

// leave runs what must still be done after a call has its answer. The session
// waits for it before its next call, and before it closes.
func (r *runner) leave(work func()) {
	done := make(chan struct{})
	r.mu.Lock()
	r.behind = append(r.behind, done)
	r.mu.Unlock()
	go func() {
		defer close(done)
		work()
	}()
}

// quiet waits for stopped commands and for what was left behind.
func (r *runner) quiet(ctx context.Context) error {
	if err := r.group.Gone(ctx); err != nil {
		return err
	}
	for {
		r.mu.Lock()
		if len(r.behind) == 0 {
			r.mu.Unlock()
			return nil
		}
		next := r.behind[0]
		r.mu.Unlock()
		select {
		case <-next:
			r.forget(next)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *runner) forget(done <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, d := range r.behind {
		if d == done {
			r.behind = append(r.behind[:i:i], r.behind[i+1:]...)
			return
		}
	}
}

// gate passes output on until the call has its answer.
type gate struct {
	mu     sync.Mutex
	to     io.Writer
	closed bool
}

// Write passes output on, or drops it.
func (g *gate) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.to == nil {
		return len(b), nil
	}
	return g.to.Write(b)
}

// shut drops what still comes, after a write that has begun.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// isNotStarted reports whether a command prepared for a terminal never ran.
func isNotStarted(err error) bool { return errors.Is(err, launch.ErrNotStarted) }
