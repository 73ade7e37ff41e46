package session

import (
	"context"
	"sync"

	"acp-agent/internal/trace"
)

// lifetime is the context of a session and the goroutines that end with it. Each of them must return
// when ctx ends.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	span   *trace.Span // of the session

	mu         sync.Mutex // guards closed, and the start of goroutines
	closed     bool
	goroutines sync.WaitGroup
}

func newLifetime(ctx context.Context, span *trace.Span) *lifetime {
	l := &lifetime{span: span}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	return l
}

// start runs work in a goroutine, and reports whether it did: after end nothing starts.
func (l *lifetime) start(work func()) (started bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.goroutines.Go(work)
	return true
}

// end ends ctx. It does not wait.
func (l *lifetime) end(cause error) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel(cause)
}

// wait waits, after end, for the goroutines.
func (l *lifetime) wait() { l.goroutines.Wait() }
