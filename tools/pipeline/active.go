package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ActiveCall is a call that has started and not ended.
type ActiveCall struct {
	ID, Tool string
	Started  time.Time
}

// errCallCancelled is the cause when a single call was cancelled, not the turn.
var errCallCancelled = errors.New(CancelledText)

// active is the table of the calls that have not ended (R126): calls that have started, and queued calls that
// have not. A call is in one of the two until it ends.
type active struct {
	mu    sync.Mutex
	calls map[string]activeCall
	// queued says of a prepared call whether it was cancelled before it started.
	queued map[string]bool
}

type activeCall struct {
	ActiveCall
	cancel context.CancelCauseFunc
}

// queue adds a prepared call, which waits for its turn.
func (a *active) queue(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queued == nil {
		a.queued = map[string]bool{}
	}
	a.queued[id] = false
}

// cancelled reports whether a queued call has been cancelled: it ends as soon as it starts.
func (a *active) cancelled(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queued[id]
}

// enter moves a call that starts out of the queue, and returns the context that Cancel ends: at once, if the call was
// cancelled while it was queued. leave removes the call.
func (a *active) enter(ctx context.Context, c *Prepared, now time.Time) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[string]activeCall{}
	}
	a.calls[c.ID] = activeCall{ActiveCall{ID: c.ID, Tool: c.Tool, Started: now}, cancel}
	if a.queued[c.ID] {
		cancel(errCallCancelled)
	}
	delete(a.queued, c.ID)
	return ctx, func() {
		cancel(nil)
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.calls, c.ID)
	}
}

// Active lists the calls that have started and not ended, the oldest first (R126).
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

// Cancel ends one call and leaves the turn and its other calls alone (R126). A queued call ends as soon
// as it starts. Cancel reports whether there was such a call.
func (p *Pipeline) Cancel(callID string) bool {
	p.active.mu.Lock()
	defer p.active.mu.Unlock()
	if _, queued := p.active.queued[callID]; queued {
		p.active.queued[callID] = true
		return true
	}
	call, ok := p.active.calls[callID]
	if ok {
		call.cancel(errCallCancelled)
	}
	return ok
}
