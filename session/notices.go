package session

import (
	"sync"

	"acp-agent/transcript"
)

// notices tells the user what is to be told once.
type notices struct {
	emit func(transcript.Event)

	mu   sync.Mutex
	said map[string]bool // by key
}

func newNotices(emit func(transcript.Event)) *notices {
	return &notices{emit: emit, said: map[string]bool{}}
}

// once emits a notice, unless one with the same key was emitted before. A client that can
// show it only during a prompt keeps it until the next one.
func (n *notices) once(key string, notice transcript.Notice) {
	n.mu.Lock()
	known := n.said[key]
	n.said[key] = true
	n.mu.Unlock()
	if !known {
		n.emit(notice)
	}
}

// forget makes the next notice of a key be emitted again.
func (n *notices) forget(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.said, key)
}
