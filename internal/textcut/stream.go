package textcut

import (
	"bufio"
	"errors"
	"sync"
)

// Tail keeps the end of what is written to it. Its methods may be called from any
// goroutine.
type Tail struct {
	limit int
	mu    sync.Mutex
	text  []byte
	cut   bool // something was written before text
}

// NewTail returns a Tail that keeps at most limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write implements io.Writer. It takes everything.
func (t *Tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if over := len(t.text) - t.limit; over > 0 {
		t.text, t.cut = append(t.text[:0], t.text[over:]...), true
	}
	return len(text), nil
}

// String returns what is kept, from the beginning of a character.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.cut {
		return string(t.text)
	}
	return string(t.text[character(t.text, 0):])
}

// ErrLong is the error of a line that is longer than its limit.
var ErrLong = errors.New("line too long")

// Line reads a line of at most limit bytes, its newline included. What stands before the end
// of the stream without a newline is dropped, and the error of the stream is returned. A
// longer line is ErrLong, and the rest of it is still unread.
func Line(from *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > limit:
			return nil, ErrLong
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
