package workspace

import (
	"slices"
	"sync"
	"time"
)

// opened are the directories that the user opened for one agent, by an answer (R64). It
// is safe for concurrent use.
type opened struct {
	mu       sync.Mutex
	forGood  []*root            // read-only, opened by an "always"
	closed   []*root            // were forGood; a call may be reading through them
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

// OpenedDir is a directory outside the roots that an answer has opened for reading.
type OpenedDir struct {
	Path string
	At   time.Time
}

// OpenedDirs are the directories that answers have opened for the session, the first one first.
func (c *checker) OpenedDirs() (dirs []OpenedDir) {
	c.opened.mu.Lock()
	defer c.opened.mu.Unlock()
	for _, r := range c.opened.forGood {
		if !slices.ContainsFunc(dirs, func(d OpenedDir) bool { return d.Path == r.path }) {
			dirs = append(dirs, OpenedDir{r.path, r.at})
		}
	}
	return dirs
}

// CloseDir takes back the answers that have opened a directory, and reports whether there were any. What
// is being read at this moment is read to its end.
func (c *checker) CloseDir(path string) bool {
	c.opened.mu.Lock()
	defer c.opened.mu.Unlock()
	before := len(c.opened.forGood)
	c.opened.forGood = slices.DeleteFunc(slices.Clone(c.opened.forGood), func(r *root) bool {
		if r.path == path {
			c.opened.closed = append(c.opened.closed, r)
		}
		return r.path == path
	})
	return len(c.opened.forGood) < before
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
	closeAll(o.closed)
	for _, roots := range o.calls {
		closeAll(roots)
	}
	o.forGood, o.closed = nil, nil
	clear(o.calls)
}

func closeAll(roots []*root) {
	for _, r := range roots {
		_ = r.handle.Close() // only ever read through
	}
}
