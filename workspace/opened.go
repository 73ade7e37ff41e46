package workspace

import (
	"slices"
	"sync"
)

// opened are the directories that the user opened for one agent, by an answer (R64). It
// is safe for concurrent use.
type opened struct {
	mu       sync.Mutex
	forGood  []*root            // read-only, opened by an "always"
	calls    map[string][]*root // by call
	released bool
}

// add opens a directory for one call.
func (o *opened) add(callID string, r *root) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.released {
		_ = r.handle.Close()
		return
	}
	if o.calls == nil {
		o.calls = map[string][]*root{}
	}
	o.calls[callID] = append(o.calls[callID], r)
}

// addForGood opens a directory for all calls of the agent.
func (o *opened) addForGood(r *root) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.released {
		_ = r.handle.Close()
		return
	}
	o.forGood = append(o.forGood, r)
}

// roots are the directories that are open for a call.
func (o *opened) roots(callID string) []*root {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Concat(o.forGood, o.calls[callID])
}

// Opened reports whether an answer has opened a directory for the session.
func (c *checker) Opened() bool {
	c.opened.mu.Lock()
	defer c.opened.mu.Unlock()
	return len(c.opened.forGood) > 0
}

// finish closes what was opened for one call alone.
func (o *opened) finish(callID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	closeAll(o.calls[callID])
	delete(o.calls, callID)
}

// release closes everything. What is added later is closed at once.
func (o *opened) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.released = true
	closeAll(o.forGood)
	for _, roots := range o.calls {
		closeAll(roots)
	}
	o.forGood = nil
	clear(o.calls)
}

func closeAll(roots []*root) {
	for _, r := range roots {
		_ = r.handle.Close() // only ever read through
	}
}
