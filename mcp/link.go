package mcp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/redact"
	"acp-agent/internal/supervise"
	"acp-agent/kinds"
	"acp-agent/tools"
)

const (
	// startLimit bounds a connection, from the start of a program to its list of tools (M2).
	startLimit = 30 * time.Second
	// callLimit bounds a call without progress (R88, M2).
	callLimit = 30 * time.Second
	// steady is how long a connection has to last for its end to count as the first one.
	steady = time.Minute
	// closeLimit bounds the farewell to a server behind HTTP.
	closeLimit = 500 * time.Millisecond
	// maxProblem bounds an error as it is shown, in characters.
	maxProblem = 300
	// protocol is the version that is offered; a server answers with its own.
	protocol = "2025-11-25"
)

// backoff is the schedule of waits before a server is tried again; the last one repeats (R91).
func backoff() []time.Duration {
	return []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute}
}

// link looks after one server: one goroutine connects, waits for the end, and connects
// again.
type link struct {
	manager    *Manager
	server     Server
	id         string
	started    time.Time
	cancel     context.CancelFunc
	ended      chan struct{} // closed when nothing of it is left
	tried      chan struct{} // closed when the first attempt has succeeded or failed
	triedOnce  sync.Once
	listed     chan struct{} // closed when all lists were read once, or the first attempt has failed
	listedOnce sync.Once
	// keys are the server's own: nothing that it says has them in it when it is read.
	keys redact.Values
	signer

	mu       sync.Mutex
	state    State
	problem  error
	ignored  int
	tools    []tools.Tool
	names    []Name
	dropped  []Dropped
	offers   offers
	live     *connection // nil while there is none
	starting *clock      // of the start; nil while there is none
	answered bool        // a call was answered since the last attempt
	logged   string      // what was logged since it was last ready, so that a loop is logged once
}

func (l *link) run(ctx context.Context) {
	defer close(l.ended)
	defer l.markListed()
	attempts := supervise.Attempts{Backoff: backoff()}
	for {
		start := time.Now()
		l.startAttempt()
		err := l.runOnce(ctx)
		if ctx.Err() != nil {
			l.set(Closed, nil)
			return
		}
		if l.worked() || time.Since(start) > steady {
			attempts.Worked()
		}
		attempts.Failed(err)
		switch l.rest(ctx, attempts.Wait(), err) {
		case ended:
			l.set(Closed, err)
			return
		case restarted:
			attempts.Worked()
		}
	}
}

// worked reports whether a call was answered since the last attempt.
func (l *link) worked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	answered := l.answered
	l.answered = false
	return answered
}

// runOnce connects to the server and serves it until its end. The error says how it ended.
func (l *link) runOnce(ctx context.Context) error {
	c, err := l.connect(ctx)
	if err == nil {
		defer close(c.over)
		err = l.watch(ctx, c)
		l.mu.Lock()
		l.live = nil
		l.mu.Unlock()
		c.close()
		err = c.explain(err) // now that all of its standard error has arrived
	}
	if ctx.Err() == nil {
		l.resolve(stateAfter(err), err)
	}
	return err
}

// startAttempt notes that an attempt starts. It is the restart that was requested, if any.
func (l *link) startAttempt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.wake:
	default:
	}
}

// watch keeps the lists of the server up to date until the connection ends.
func (l *link) watch(ctx context.Context, c *connection) error {
	ended := make(chan error, 1)
	go func() { ended <- c.session.Wait() }() // ends with the connection, which once closes
	c.stale.Store(uint32(allLists))
	var readings pace
	for {
		if err := l.read(ctx, c, listing(c.stale.Swap(0))); err != nil {
			return err
		}
		l.markListed()
		var changed chan struct{} // no one's, until it may be read again
		calm := time.After(readings.rest(time.Now()))
		for again := false; !again; {
			select {
			case err := <-ended:
				return err
			case <-calm:
				changed = c.changed
			case <-changed:
				again = true
			case <-c.dead: // a server behind HTTP that keeps no stream open does not notice
				return errEnded
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// markTried closes tried; markListed closes listed, and tried.
func (l *link) markTried() { l.triedOnce.Do(func() { close(l.tried) }) }

func (l *link) markListed() {
	l.markTried()
	l.listedOnce.Do(func() { close(l.listed) })
}

func (l *link) lastProblem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.problem
}

// resolve sets the state that an attempt led to, unless a restart was asked for during the
// attempt: then the next attempt decides.
func (l *link) resolve(state State, problem error) (current bool) {
	l.mu.Lock()
	if len(l.wake) > 0 {
		l.mu.Unlock()
		return false
	}
	news := l.enter(state, problem)
	l.mu.Unlock()
	l.report(state, news)
	return true
}

// set changes the state.
func (l *link) set(state State, problem error) {
	l.mu.Lock()
	news := l.enter(state, problem)
	l.mu.Unlock()
	l.report(state, news)
}

// enter changes the state, but a closed link stays closed; mu is held. It returns the problem
// that is to be logged, "" for none.
func (l *link) enter(state State, problem error) (news string) {
	if l.state != Closed {
		l.state = state
	}
	l.signal()
	if problem != nil {
		l.problem = problem
	}
	text := ""
	if state == Failed {
		text = inOneLine(problem)
	}
	if text != l.logged {
		news = text
	}
	if state == Failed || state == Ready {
		l.logged = text
	}
	return news
}

// report logs the problem of a state, and says that all is known of a server that cannot be
// used.
func (l *link) report(state State, news string) {
	if news != "" {
		l.manager.o.Logger.Warn("mcp server", "server", l.id, "problem", news)
	}
	if state == Failed || state == SignIn {
		l.markListed()
	}
}

// status is the link at this moment.
func (l *link) status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Status{
		Name: kinds.Line(l.server.Name, maxFieldText), Origin: l.server.Origin, Transport: l.server.Transport(),
		Unconfined: l.server.Unconfined, Hosts: l.server.Hosts, AsksHosts: l.server.AsksHosts,
		Place: kinds.Line(l.server.Place(), maxFieldText), ID: l.id, State: l.state, Ignored: l.ignored, Tools: l.names,
		Prompts: l.offers.prompts, Resources: l.offers.resources, Templates: l.offers.templates,
		Dropped: slices.Concat(l.dropped, l.offers.droppedPrompts, l.offers.droppedResources),
	}
	if l.problem != nil {
		s.Problem = inOneLine(l.problem)
	}
	return s
}

// inOneLine is a problem as it is shown and logged.
func inOneLine(problem error) string {
	return kinds.Line(strings.ReplaceAll(problem.Error(), "\n", ". "), maxProblem)
}
