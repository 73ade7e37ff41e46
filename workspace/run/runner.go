package run

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/tools"
)

// Runner runs the commands and programs of a session. It is safe for concurrent use.
type Runner struct {
	o     Options
	w     Workspace
	group launch.Group
	slots chan struct{} // a token for each command that runs
	index nameIndex
	space space
	jobs  *Jobs

	setUp sync.Once
	shell launch.Shell
	env   []string
	// readingEnv is env without the variables that the user passes to commands.
	readingEnv []string
	err        error

	mu         sync.Mutex
	unfinished []<-chan struct{} // work that outlives its call
	late       []string          // notes of commands that were stopped
	movedAside []MovedAside      // what was moved aside after them
}

// New returns the runner of a workspace. It starts nothing.
func New(o Options, w Workspace) *Runner {
	o.fill()
	return &Runner{o: o, w: w, slots: make(chan struct{}, o.AtOnce), jobs: newJobs(o.Jobs, w.Limits, w.Sidecar)}
}

// Jobs are the session's commands in the background.
func (r *Runner) Jobs() *Jobs { return r.jobs }

// Call is a tool call, as its commands have to know it.
type Call struct {
	ID, Tool string
	// Over ends with the call; its commands are bound to it.
	Over context.Context
	// ShowTerminal shows that the call's output is in a terminal of the client; "" that it
	// is in none any more. nil shows it to no one.
	ShowTerminal func(terminalID string)
}

// Commands are the commands of one call. They are safe for concurrent use.
type Commands struct {
	runner *Runner
	call   Call

	mu         sync.Mutex
	setEnv     []string // variables of this call's commands
	redact     Redact   // nil leaves output as it is
	grant      Grant
	lacking    Lacking
	movedAside []MovedAside // what its commands changed and that was moved aside
}

var _ tools.Processes = (*Commands)(nil)

// Commands returns the commands of a call.
func (r *Runner) Commands(c Call) *Commands {
	if c.ShowTerminal == nil {
		c.ShowTerminal = func(string) {}
	}
	return &Commands{runner: r, call: c}
}

// SetEnv sets variables, as "NAME=value", in the environment of the commands
// that the call runs from now on.
func (c *Commands) SetEnv(variables ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setEnv = variables
}

// Redact makes a writer to a writer that gets what may be kept and shown of a job's output;
// flush writes what was held back at the end.
type Redact func(to io.Writer) (redacted io.Writer, flush func())

// RedactJobs has the output of the call's jobs pass a writer, before any of it is kept.
func (c *Commands) RedactJobs(redact Redact) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.redact = redact
}

func (c *Commands) redacted(output io.Writer) (redacted io.Writer, flush func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.redact == nil {
		return output, func() {}
	}
	return c.redact(output)
}

// environ returns env with the call's own variables in the place of others of
// the same name.
func (c *Commands) environ(env []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return replaceEnv(env, c.setEnv)
}

func nameOf(variable string) string {
	name, _, _ := strings.Cut(variable, "=")
	return name
}

// leave runs what must still be done after a call has its answer. The session
// waits for it before its next call, and before it closes.
func (r *Runner) leave(work func()) {
	done := make(chan struct{})
	r.mu.Lock()
	r.unfinished = append(r.unfinished, done)
	r.mu.Unlock()
	go func() {
		defer close(done)
		work()
	}()
}

// Quiet waits until nothing of a cancelled call, or of a job that was stopped, is left running:
// its process tree, and the release of its terminal (R153). Running calls and jobs are not
// waited for. The error is ctx's cause.
func (r *Runner) Quiet(ctx context.Context) error {
	if err := r.group.Gone(ctx); err != nil {
		return err
	}
	for {
		r.mu.Lock()
		if len(r.unfinished) == 0 {
			r.mu.Unlock()
			return nil
		}
		next := r.unfinished[0]
		r.mu.Unlock()
		select {
		case <-next:
			r.forget(next)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *Runner) forget(done <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, d := range r.unfinished {
		if d == done {
			r.unfinished = append(r.unfinished[:i:i], r.unfinished[i+1:]...)
			return
		}
	}
}

// Close stops all commands, jobs and programs, and waits until they are gone. grace is the
// time between TERM and KILL. A second Close, during or after the first, can only bring
// the end forward.
func (r *Runner) Close(grace time.Duration) {
	r.jobs.Close()
	r.group.Close(grace)
	r.jobs.wait()
	// A tree that cannot be killed must not hold up the end of the session.
	ctx, cancel := context.WithTimeout(context.Background(), grace+closeWait)
	defer cancel()
	_ = r.Quiet(ctx)
	r.closeSpace()
}

const closeWait = launch.StopGrace
