package workspace

import (
	"context"
	"sync"
)

// begun counts the work that the end of the session must not cut in two: what
// is done while a file is locked, which may go on to take itself back, and
// rollbacks (R127, R128).
type begun struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when count falls to 0; nil while nobody waits
	shut  bool
}

// begin counts a piece of work until end, which is called once. It is not ok
// when the session is over.
func (b *begun) begin() (end func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return func() {}, false
	}
	b.count++
	return b.end, true
}

func (b *begun) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count--; b.count == 0 && b.none != nil {
		close(b.none)
		b.none = nil
	}
}

// finish waits until all that was begun has ended, or ctx has. Nothing begins
// after it.
func (b *begun) finish(ctx context.Context) {
	for {
		none := b.close(ctx.Err() != nil)
		if none == nil {
			return
		}
		select {
		case <-none:
		case <-ctx.Done():
		}
	}
}

// close shuts when nothing is left, or now; else it returns what is closed when
// nothing is left.
func (b *begun) close(now bool) (none <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count == 0 || now {
		b.shut = true
		return nil
	}
	if b.none == nil {
		b.none = make(chan struct{})
	}
	return b.none
}
