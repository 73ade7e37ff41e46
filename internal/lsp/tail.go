package lsp

import "sync"

// maxTail is how much of a server's errors is kept for the message that it is
// gone.
const maxTail = 2048

// tail keeps the end of what a server writes to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end of everything written.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
