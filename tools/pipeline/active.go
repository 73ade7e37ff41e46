package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ActiveCall is a call that has not ended.
type ActiveCall struct {
	ID, Tool string
	Started  time.Time
}

// errCallCancelled is the cause of a call that was cancelled by itself.
var errCallCancelled = errors.New(CancelledText)

// active is the table of the calls that have not ended (R126).
type active struct {
	mu    sync.Mutex
	calls map[string]activeCall
}

type activeCall struct {
	ActiveCall
	cancel context.CancelCauseFunc
}

// enter notes a call and returns the context that Cancel ends; leave takes it
// out of the table again.
func (a *active) enter(ctx context.Context, c *Prepared, now time.Time) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[string]activeCall{}
	}
	a.calls[c.ID] = activeCall{ActiveCall{ID: c.ID, Tool: c.Tool, Started: now}, cancel}
	return ctx, func() {
		cancel(nil)
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.calls, c.ID)
	}
}

// Active lists the calls that have not ended, the oldest first (R126).
func (p *Pipeline) Active() []ActiveCall {
	p.active.mu.Lock()
	defer p.active.mu.Unlock()
	list := make([]ActiveCall, 0, len(p.active.calls))
	for _, call := range p.active.calls {
		list = append(list, call.ActiveCall)
	}
	slices.SortFunc(list, func(a, b ActiveCall) int { return a.Started.Compare(b.Started) })
	return list
}

// Cancel ends one call and leaves the turn and its other calls alone (R126). It
// reports whether the call was running.
func (p *Pipeline) Cancel(callID string) bool {
	p.active.mu.Lock()
	call, ok := p.active.calls[callID]
	p.active.mu.Unlock()
	if ok {
		call.cancel(errCallCancelled)
	}
	return ok
}
