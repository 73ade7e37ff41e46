package session

import (
	"context"
	"sync"
)

// background runs work that belongs to the process and not to one session. The zero value is ready
// for use. It is safe for concurrent use.
//
// Goroutines: one for each start. close ends their context and waits for them.
type background struct {
	goroutines sync.WaitGroup

	mu     sync.Mutex // guards what follows, and the start of goroutines
	ctx    context.Context
	cancel context.CancelFunc
	closed bool
}

// start runs work in a goroutine, and reports whether it did: after close nothing starts. ctx ends
// with close.
func (b *background) start(work func(ctx context.Context)) (started bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	if b.ctx == nil {
		b.ctx, b.cancel = context.WithCancel(context.Background())
	}
	ctx := b.ctx
	b.goroutines.Go(func() { work(ctx) })
	return true
}

// close ends all work and waits for it.
func (b *background) close() {
	b.mu.Lock()
	b.closed = true
	if b.cancel != nil {
		b.cancel()
	}
	b.mu.Unlock()
	b.goroutines.Wait()
}
