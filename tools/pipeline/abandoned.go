package pipeline

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/tools"
)

// abandoned holds the goroutines of tools for which a call did not wait, until they end.
type abandoned struct {
	mu   sync.Mutex
	left []<-chan struct{}
}

// add remembers a goroutine that closes done when it ends.
func (a *abandoned) add(done <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = append(a.left, done)
}

// wait waits until all goroutines have ended, for at most limit. It forgets the goroutines that have not ended
// by then: their runtimes are finished and refuse everything, so a longer wait gains nothing.
func (a *abandoned) wait(ctx context.Context, limit time.Duration) {
	a.mu.Lock()
	a.left = slices.DeleteFunc(a.left, ended)
	left := slices.Clone(a.left)
	a.mu.Unlock()
	if len(left) == 0 {
		return
	}
	clock := time.NewTimer(limit)
	defer clock.Stop()
	for _, done := range left {
		select {
		case <-done:
		case <-ctx.Done():
			return
		case <-clock.C:
			a.forget(left)
			return
		}
	}
}

// run runs do on a new goroutine and waits for it. When do has not returned grace after the end of
// ctx, run adds its goroutine and returns the error of ctx.
func (a *abandoned) run(ctx context.Context, grace time.Duration, do func()) error {
	done := make(chan struct{})
	go func() { // ends with do
		defer close(done)
		do()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	clock := time.NewTimer(grace)
	defer clock.Stop()
	select {
	case <-done:
		return nil
	case <-clock.C:
		a.add(done)
		return ctx.Err()
	}
}

// forget removes goroutines that no call waits for any more.
func (a *abandoned) forget(these []<-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = slices.DeleteFunc(a.left, func(done <-chan struct{}) bool { return slices.Contains(these, done) })
}

// ended reports whether the goroutine that closes done has ended.
func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// stopGrace is how long a cancelled call waits for its tool before it answers
// without it. It keeps the answer to a cancel well under its 200 ms.
const stopGrace = 50 * time.Millisecond

// delegateGrace is the same for a call that waits for subagents: each of their calls has its own
// stopGrace, and their last events have to come before the answer.
const delegateGrace = time.Second

// bounded runs do, which is code of the call's tool, and waits for it, but not for long once ctx has
// ended; see abandoned.run.
func (s *sharedState) bounded(ctx context.Context, do func()) error {
	grace := stopGrace
	if s.entry.Delegates {
		grace = delegateGrace
	}
	return s.pipeline.abandoned.run(ctx, grace, do)
}

// Bounds of the wait for abandoned commands and tools.
const (
	// abandonedCommandLimit is longer than the time between TERM and KILL of a stopped process.
	abandonedCommandLimit = 10 * time.Second
	// abandonedToolLimit is shorter: a tool that still runs then may never end, and its runtime refuses everything.
	abandonedToolLimit = 2 * time.Second
)

// WaitForAbandoned waits until no earlier, cancelled call can still change anything. The wait has a
// limit, so that a tool that never ends, such as a read from a dead mount, does not block the session.
func (p *Pipeline) WaitForAbandoned(ctx context.Context) error {
	p.abandoned.wait(ctx, abandonedToolLimit)
	limited, cancel := context.WithTimeout(ctx, abandonedCommandLimit)
	defer cancel()
	err := p.Workspace.Runner().WaitForAbandoned(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return &tools.Error{
			Kind: tools.Unavailable, Err: err,
			Message: "a command that was stopped is still not gone, so this call was not started", Hint: "try again in a moment",
		}
	}
	return err
}
