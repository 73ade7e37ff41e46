package run

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/tools"
)

// Terminals are the client's terminals (R156). They are used from several
// goroutines at once; all methods return when ctx ends.
type Terminals interface {
	// Create starts a program by argv. outputLimit bounds what the client
	// keeps, in bytes.
	Create(ctx context.Context, cmd string, args []string, env map[string]string, cwd string, outputLimit int) (Terminal, error)
}

// Terminal is a terminal of the client.
type Terminal interface {
	ID() string
	// Wait returns when the program has exited.
	Wait(ctx context.Context) (tools.Exit, error)
	// Kill ends the program and keeps the terminal.
	Kill(ctx context.Context) error
	// Output returns what the client has kept; truncated says that it is not
	// all.
	Output(ctx context.Context) (text string, truncated bool, err error)
	// Release lets the client free the terminal.
	Release(ctx context.Context) error
}

// TerminalTrial remembers, for a connection, that the client could not start
// our binary: commands then run locally. The zero value is ready; it is safe
// for concurrent use.
type TerminalTrial struct{ failed atomic.Bool }

// Failed reports whether the client has failed to start our binary.
func (t *TerminalTrial) Failed() bool { return t.failed.Load() }

const (
	// startWait is how long a created terminal may take to start our binary.
	startWait = 10 * time.Second
	// exitWait is how long the end of a command and the end of its terminal
	// may lie apart.
	exitWait = 2 * time.Second
	// releaseWait bounds what is left to do with a terminal.
	releaseWait = 5 * time.Second
)

// inTerminal runs the command in a terminal of the client. The client starts
// our binary, never the command: the helper runs the judged text and hands us
// the whole stream, whatever the terminal keeps. Other tools run
// programs out of sight. done is false when the client
// cannot do that, and nothing was run.
func (c *Commands) inTerminal(ctx context.Context, cmd confined, out io.Writer) (exit tools.Exit, done bool, err error) {
	r := c.runner
	if c.call.Tool != "bash" || r.o.Terminals == nil || r.o.Trial.Failed() || r.w.Private.Create() != nil {
		return exit, false, nil
	}
	argv, process, err := r.o.Launcher.PrepareTerminal(r.w.Private.Run(), cmd.Spec, out)
	if err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			r.o.Trial.failed.Store(true)
		}
		return exit, false, nil
	}
	r.group.Add(process)
	terminal, err := r.createTerminal(ctx, argv, cmd.Dir)
	if err != nil {
		process.Stop(0)
		if ctx.Err() != nil {
			r.endAfterAnswer(cmd, process)
			return exit, true, context.Cause(ctx)
		}
		r.o.Trial.failed.Store(true)
		return exit, false, nil
	}
	c.call.ShowTerminal(terminal.ID())
	cmd.reportStart(process)
	run := &terminalRun{runner: r, terminal: terminal, process: process, spec: argv[len(argv)-1], out: out, concurrently: r.afterAnswer}
	if cmd.job != nil { // the end of the session waits for it, and no call
		run.concurrently = r.jobs.running.Go
	}
	expired := cmd.limitTime(process)
	status, err := run.follow(ctx)
	overdue := expired()
	if errors.Is(err, launch.ErrNotStarted) && ctx.Err() == nil {
		r.o.Trial.failed.Store(true)
		c.call.ShowTerminal("") // what follows is shown without it
		return exit, false, nil
	}
	if err != nil {
		r.endAfterAnswer(cmd, process)
		return exit, true, commandError(ctx, err)
	}
	exit = exitOf(status)
	exit.Notes = slices.Concat(cmd.exceeded(status, overdue), c.endOf(cmd))
	return exit, true, nil
}

// createTerminal asks the client for a terminal. When ctx ends first, it
// returns at once, and a terminal that is made all the same is released after
// the answer: its name stands nowhere else.
func (r *Runner) createTerminal(ctx context.Context, argv []string, dir string) (Terminal, error) {
	type made struct {
		terminal Terminal
		err      error
	}
	answer := make(chan made)
	r.afterAnswer(func() {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), startWait)
		defer cancel()
		terminal, err := r.o.Terminals.Create(asking, argv[0], argv[1:], nil, dir, r.w.Limits.BashBytes)
		select {
		case answer <- made{terminal, err}:
		case <-ctx.Done():
			if err == nil {
				freeTerminal(terminal)
			}
		}
	})
	select {
	case m := <-answer:
		return m.terminal, m.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// freeTerminal ends the program in a terminal and releases the terminal.
func freeTerminal(terminal Terminal) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWait)
	defer cancel()
	_ = terminal.Kill(ctx) // it has most likely exited by itself
	_, _, _ = terminal.Output(ctx)
	_ = terminal.Release(ctx)
}

// terminalRun is a command in a terminal of the client.
type terminalRun struct {
	runner   *Runner
	terminal Terminal
	process  *launch.Process
	spec     string // the file that the helper removes when it starts
	out      io.Writer
	// concurrently runs work on a goroutine of its own while the command runs.
	concurrently func(work func())
}

// follow waits for the command, and releases its terminal in every case.
func (t *terminalRun) follow(ctx context.Context) (launch.Status, error) {
	watched, cancel := context.WithCancel(ctx)
	exited := make(chan struct{})
	t.concurrently(func() { // ends with the terminal's program, or with follow
		defer close(exited)
		_, _ = t.terminal.Wait(watched) // how it ended is the helper's to say
	})
	status, err := t.wait(ctx, exited)
	if ctx.Err() != nil {
		cancel()
		t.abort()
		return launch.Status{}, context.Cause(ctx)
	}
	if err == nil {
		within(exited, exitWait)
	}
	cancel()
	t.release(err)
	return status, err
}

// wait returns the end of the command. A terminal that exits, or stays idle,
// before our helper has started could not start it.
func (t *terminalRun) wait(ctx context.Context, exited <-chan struct{}) (launch.Status, error) {
	start := time.NewTimer(startWait)
	defer start.Stop()
	for {
		select {
		case <-t.process.Done():
			return t.process.Wait(ctx)
		case <-ctx.Done():
			return launch.Status{}, context.Cause(ctx)
		case <-start.C:
			if !t.helperStarted() {
				t.process.Stop(0)
			}
		case <-exited:
			exited = nil
			if t.helperStarted() && within(t.process.Done(), exitWait) {
				continue
			}
			t.process.Stop(0)
		}
	}
}

// helperStarted reports whether the helper has started.
func (t *terminalRun) helperStarted() bool {
	_, err := os.Lstat(t.spec)
	return errors.Is(err, fs.ErrNotExist)
}

// release reads the text of the terminal, and releases the terminal. The text is used
// only if the helper was lost, and with it the end of the agent's own stream.
func (t *terminalRun) release(failure error) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWait)
	defer cancel()
	text, _, err := t.terminal.Output(ctx)
	if err == nil && errors.Is(failure, launch.ErrLost) {
		_, _ = io.WriteString(t.out, text) // the failure is reported in any case
	}
	_ = t.terminal.Release(ctx) // the client's to clean up, if it cannot
}

// abort ends the command after the answer: its tree by the helper, then the
// terminal (R156).
func (t *terminalRun) abort() {
	t.process.Stop(launch.StopGrace)
	t.runner.afterAnswer(func() {
		within(t.process.Done(), launch.StopGrace+time.Second)
		freeTerminal(t.terminal)
	})
}

// within reports whether a channel is closed before the limit is over.
func within(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
