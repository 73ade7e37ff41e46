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
	o         Options
	w         Workspace
	group     launch.Group  // all processes
	slots     chan struct{} // a token for each command that runs
	index     nameIndex
	namespace namespace
	jobs      *Jobs
	outer     outerRepositories

	cleanups sync.WaitGroup // of temporary directories: Close alone waits for them

	setUp sync.Once // sets what follows, see setUpCommands
	shell launch.Shell
	env   []string
	// readingEnv is env without the variables that the user passes to commands, projectEnv
	// is env with the programs of a project that the user trusts.
	readingEnv, projectEnv []string
	err                    error // why no shell was found

	mu         sync.Mutex // guards what follows
	closed     bool
	tmp        *commandTmp       // for the next command that only reads; nil while there is none
	unfinished []<-chan struct{} // work that outlives its call, see afterAnswer
	lateNotes  []string          // notes of commands that ended after their answer
	lateAsides []MovedAside      // what was moved aside after these commands
}

// New returns the runner of a workspace. It starts nothing. What the workspace can write counts as given from here on: its
// files can be written without a command.
func New(o Options, w Workspace) *Runner {
	o.fill()
	r := &Runner{o: o, w: w, slots: make(chan struct{}, o.AtOnce), jobs: newJobs(o.Jobs, w.Limits, w.Sidecar)}
	o.Sandbox.Box.Give(r.writable()...) // private directories are among the box's own
	return r
}

// Jobs returns the session's commands in the background.
func (r *Runner) Jobs() *Jobs { return r.jobs }

// Call is what the commands of a tool call know of it.
type Call struct {
	ID, Tool string
	// Context ends with the call. Its commands, but not its jobs, end with it.
	Context context.Context
	// ShowTerminal shows that the call's output is in a terminal of the client, or, with "", that it
	// no longer is. It may be nil.
	ShowTerminal func(terminalID string)
}

// Commands are the commands of one call. They are safe for concurrent use.
type Commands struct {
	runner *Runner
	call   Call

	mu         sync.Mutex
	setEnv     []string // variables of this call's commands
	redact     Redact   // for the output of jobs; nil leaves it as it is
	grant      Grant
	lacking    Shortage
	movedAside []MovedAside // the changes of its commands that were moved aside
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

// Redact returns a writer that passes on to another one what may be kept and shown of a job's output.
// flush writes what was held back at the end.
type Redact func(to io.Writer) (redacted io.Writer, flush func())

// RedactJobs sets what redacts the output of the call's jobs before any of it is kept.
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

// environ returns env with the call's own variables, which replace others of the same name.
func (c *Commands) environ(env []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return replaceEnv(env, c.setEnv)
}

func nameOf(variable string) string {
	name, _, _ := strings.Cut(variable, "=")
	return name
}

// afterAnswer runs work that a call does not wait for. The session waits for it before its next call,
// and before it closes.
func (r *Runner) afterAnswer(work func()) {
	done := make(chan struct{})
	r.mu.Lock()
	r.unfinished = append(r.unfinished, done)
	r.mu.Unlock()
	go func() {
		defer close(done)
		work()
	}()
}

// WaitForAbandoned waits until nothing of cancelled calls and stopped jobs is left running:
// no process of theirs, and no release of a terminal (R153). It does not wait for running calls and
// jobs. The error is the cause of ctx.
func (r *Runner) WaitForAbandoned(ctx context.Context) error {
	if err := r.group.WaitStopped(ctx); err != nil {
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

// Warm starts a helper for the next command, which then need not start one. It returns at once.
func (r *Runner) Warm() {
	if r.o.Terminals != nil && !r.o.Trial.Failed() {
		return // the client starts them
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && r.o.Launcher != nil {
		r.o.Launcher.Warm(nil)
	}
}

// Close stops all commands, jobs and programs, and waits until they are gone. grace is the
// time between TERM and KILL. A second Close, during or after the first, can only shorten it.
func (r *Runner) Close(grace time.Duration) {
	r.jobs.Close()
	r.group.Close(grace)
	r.jobs.wait()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	// A tree that cannot be killed must not hold up the end of the session.
	ctx, cancel := context.WithTimeout(context.Background(), grace+closeWait)
	defer cancel()
	_ = r.WaitForAbandoned(ctx)
	r.cleanups.Wait()
	if r.o.Launcher != nil { // after that, because a helper waits again when its command is gone
		r.o.Launcher.Dismiss() // also helpers of other sessions, whose next command then starts one
	}
	r.closeNamespace()
	r.outer.close()
}

const closeWait = launch.StopGrace
