package session

import (
	"sync"

	"acp-agent/transcript"
)

// notices emits notices that the user gets once. It is safe for concurrent use.
type notices struct {
	emit func(transcript.Event)

	mu   sync.Mutex      // guards said
	said map[string]bool // by key
}

func newNotices(emit func(transcript.Event)) *notices {
	return &notices{emit: emit, said: map[string]bool{}}
}

// once emits a notice, unless one with the same key was emitted before. A client that can
// show it only during a prompt keeps it until the next one.
func (n *notices) once(key string, notice transcript.Notice) {
	if n.first(key) {
		n.emit(notice)
	}
}

// first notes that a notice with a key is emitted, and reports whether it is the first.
func (n *notices) first(key string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.said[key]
	n.said[key] = true
	return !known
}

// forget lets the next notice with a key be emitted again.
func (n *notices) forget(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.said, key)
}
