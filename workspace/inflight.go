package workspace

import (
	"context"
	"sync"
)

// inFlight counts the work that the end of the session must not cut in two: what
// is done while a file is locked, which may go on to take itself back, and
// rollbacks (R127, R128).
type inFlight struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when count falls to 0; nil while no one waits
	shut  bool
}

// start counts a piece of work until end, which is called once. It is not ok
// when the session is over.
func (f *inFlight) start() (end func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut {
		return func() {}, false
	}
	f.count++
	return f.end, true
}

func (f *inFlight) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count--; f.count == 0 && f.none != nil {
		close(f.none)
		f.none = nil
	}
}

// finish waits until all work in flight has ended, or ctx has. Nothing starts
// after it.
func (f *inFlight) finish(ctx context.Context) {
	for {
		none := f.close(ctx.Err() != nil)
		if none == nil {
			return
		}
		select {
		case <-none:
		case <-ctx.Done():
		}
	}
}

// close refuses new work if none is in flight or now is true, and returns nil. Otherwise it returns
// a channel that closes when the last work ends.
func (f *inFlight) close(now bool) (none <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == 0 || now {
		f.shut = true
		return nil
	}
	if f.none == nil {
		f.none = make(chan struct{})
	}
	return f.none
}
