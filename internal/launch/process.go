package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// StopGrace is the time between TERM and KILL when a turn is cancelled.
	StopGrace = 2 * time.Second
	// ShutdownGrace is the same when the agent itself is about to exit, or is
	// found to be gone.
	ShutdownGrace = 500 * time.Millisecond

	// backstopDelay is how long after a grace the helper may take to kill its
	// tree before the agent does it in its place.
	backstopDelay = time.Second
	// drainIdle is how long a pipe may be silent after its helper is gone. It
	// matters only if a process that could not be killed holds it open.
	drainIdle = 200 * time.Millisecond
)

var (
	// ErrLost reports a helper that ended without saying how its command
	// ended: it was killed, or it crashed.
	ErrLost = errors.New("launch: the command's helper ended without a status")
	// errIdle is ErrLost of a helper that had started nothing.
	errIdle = fmt.Errorf("%w, and before it started the command", ErrLost)
	// ErrNotStarted reports a command of [Launcher.PrepareTerminal] that was
	// stopped before the client ran it.
	ErrNotStarted = errors.New("launch: the command was never started")
)

// Process is one command and every process that came of it. Its methods may be
// called from any goroutine.
type Process struct {
	cookie  string      // marks the environment of every process of the command
	cmd     *exec.Cmd   // the helper; nil if a client started it
	link    *link       // the channels to the helper
	dropped atomic.Bool // no output is wanted any more: the command was stopped
	piped   bool        // nothing is dropped; set before the start
	// giveBack is called with a helper that waits for its next command; nil for one that has a single command.
	giveBack func()

	ready   chan error    // the outcome of the start, one value
	settled chan struct{} // closed when the command has ended and status and err are set
	done    chan struct{} // closed when the tree is gone, and the helper or its work
	drained chan struct{} // closed when the writers get nothing more

	mu       sync.Mutex
	helper   int // the helper's pid once it has attached, while it lives
	stopped  bool
	gone     bool
	backstop *time.Timer
	killAt   time.Time // when backstop fires

	status Status // with err, set before settled is closed
	err    error
}

func newProcess(cookie string, cmd *exec.Cmd, l *link) *Process {
	return &Process{
		cookie:  cookie,
		cmd:     cmd,
		link:    l,
		ready:   make(chan error, 1),
		settled: make(chan struct{}),
		done:    make(chan struct{}),
		drained: make(chan struct{}),
	}
}

// run starts the goroutines of a process. A nil writer leaves its stream to
// another reader.
func (p *Process) run(out, errs io.Writer, input []byte) {
	var streams sync.WaitGroup
	if out != nil {
		streams.Go(func() { p.copy(p.link.output, out) })
	}
	if errs != nil {
		streams.Go(func() { p.copy(p.link.errors, errs) })
	}
	if len(input) > 0 {
		streams.Go(func() { p.feed(input) })
	}
	go func() {
		streams.Wait()
		close(p.drained)
	}()
	go p.watch()
}

// Done is closed when the last process of the command is gone. Output may
// still be on its way to the writer; see [Process.Wait].
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns when the command has ended, nothing of it is left but a helper about to exit or to wait,
// and its output has been handed to the writer in full. A non-zero exit code or a
// signal is a Status and not an error (R55); the errors are [ErrLost],
// [ErrNotStarted], the reason a client's helper gave for not starting, and
// ctx's cause. The end of ctx does not stop the command: see [Process.Stop].
func (p *Process) Wait(ctx context.Context) (Status, error) {
	for _, c := range []<-chan struct{}{p.settled, p.drained} {
		select {
		case <-c:
		case <-ctx.Done():
			return Status{}, context.Cause(ctx)
		}
	}
	return p.status, p.err
}

// Stop ends the command: every process of it gets TERM now and KILL when the
// grace is over. It returns at once; [Process.Done] tells the end. Output is
// dropped from here on, except for a write that is in progress; the output of a [Piped]
// is not, for the caller that stops it reads its stderr tail. A later Stop
// can only bring the KILL forward.
func (p *Process) Stop(grace time.Duration) {
	p.dropped.Store(!p.piped)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	p.stopped = true
	grace = max(grace, 0)
	p.link.stop(grace)
	if p.helper == 0 && p.cmd == nil {
		p.link.abandon()
		return
	}
	wake(p.helper)
	p.armBackstop(grace + backstopDelay)
}

// armBackstop sees to it that kill runs after the delay, or sooner if it was
// already due sooner. The caller holds mu.
func (p *Process) armBackstop(delay time.Duration) {
	at := time.Now().Add(delay)
	switch {
	case p.backstop == nil:
		p.backstop = time.AfterFunc(delay, p.kill)
	case at.Before(p.killAt):
		p.backstop.Reset(delay)
	default:
		return
	}
	p.killAt = at
}

// abort ends a start. A helper that has not attached has started nothing, so it is killed. A helper
// that has attached ends its tree itself: that takes less time than to find what a killed helper
// left.
func (p *Process) abort() {
	if p.attached() {
		p.Stop(0)
		return
	}
	p.kill()
}

// kill does the helper's work when the helper does not: the tree first, while
// the helper still holds it together, then the helper.
func (p *Process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	if p.helper != 0 {
		killTree(p.helper)
	}
	if p.cmd != nil {
		// The only error is that it has ended by itself.
		_ = p.cmd.Process.Kill()
	}
}

// watch reads the helper's records until it is gone or waits, then makes sure that its
// tree is gone too.
func (p *Process) watch() {
	var last record
	r := bufio.NewReader(p.link.status)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			p.note(decodeRecord(line), &last)
		}
		if last.Waits {
			p.finish(last)
			return
		}
		if err != nil {
			break
		}
	}
	if p.cmd != nil {
		// How the helper itself exited says nothing the records do not.
		_ = p.cmd.Wait()
	}
	p.finish(last)
}

// note acts on one record. last gathers what finish has to know of all of them.
func (p *Process) note(r record, last *record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.Helper != 0:
		p.helper = r.Helper
		p.link.dropStandIns()
	case r.Shell != 0:
		last.Shell = r.Shell
		p.reportStart(nil)
	case r.Status != nil && last.Status == nil:
		last.Status, p.status = r.Status, *r.Status
		if r.Waits && p.giveBack != nil {
			last.Waits = true
			p.gone, p.link.control, p.link.status = true, nil, nil // they are the next command's
			p.giveBack()
		}
		close(p.settled) // the helper has nothing else to tell
	case r.Error != "":
		last.Error = r.Error
	}
}

// reportStart reports the outcome of the start; only the first report counts.
func (p *Process) reportStart(err error) {
	select {
	case p.ready <- err:
	default:
	}
}

// finish settles the result after the helper has gone.
func (p *Process) finish(last record) {
	if p.mayHaveLeft(last) {
		sweep(p.cookie, last.Shell)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case last.Status != nil: // it has settled
	case last.Error != "":
		p.err = fmt.Errorf("launch: start command: %s", last.Error)
	case p.helper == 0 && p.cmd == nil:
		p.err = ErrNotStarted
	case p.helper == 0:
		p.err = errIdle
	default:
		p.err = ErrLost
	}
	p.reportStart(p.err)
	if last.Status == nil {
		close(p.settled)
	}
	p.gone = true
	if p.backstop != nil {
		p.backstop.Stop()
	}
	p.link.close()
	close(p.done)
	// Wake the readers of pipes that a survivor still holds open.
	_ = p.link.output.SetReadDeadline(time.Now())
	_ = p.link.errors.SetReadDeadline(time.Now())
}

// mayHaveLeft reports whether a helper that is gone may have left processes: it has not
// said how its command ended, and it attaches before it starts anything.
func (p *Process) mayHaveLeft(last record) bool { return last.Status == nil && p.attached() }

func (p *Process) attached() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.helper != 0
}

func (p *Process) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

func (p *Process) isGone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}
