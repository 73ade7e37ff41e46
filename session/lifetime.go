package session

import (
	"context"
	"sync"

	"acp-agent/internal/trace"
)

// lifetime is the context of a session, or of the process's own work (background), and the goroutines
// that end with it. Each of them must return when ctx ends. It is safe for concurrent use.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	span   *trace.Span // of the session; nil for background

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

// background is the lifetime of work that belongs to the process and not to one session. The zero value
// is ready for use. It is safe for concurrent use.
//
// Goroutines: one for each start. close ends their context and waits for them.
type background struct {
	once sync.Once
	life *lifetime // set by once
}

func (b *background) lifetime() *lifetime {
	b.once.Do(func() { b.life = newLifetime(context.Background(), nil) })
	return b.life
}

// start runs work in a goroutine, and reports whether it did: after close nothing starts. ctx ends
// with close.
func (b *background) start(work func(ctx context.Context)) (started bool) {
	life := b.lifetime()
	return life.start(func() { work(life.ctx) })
}

// close ends all work and waits for it.
func (b *background) close() {
	life := b.lifetime()
	life.end(nil)
	life.wait()
}
