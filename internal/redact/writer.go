package redact

import (
	"io"
	"sync"
)

// Writer takes values out of what is written through it. Its methods may be called from any
// goroutine.
type Writer struct {
	to     io.Writer
	mu     sync.Mutex
	stream Stream
}

// NewWriter returns a Writer to a writer, which gets what [Stream] lets pass. The rest needs
// a [Writer.Flush] at the end.
func NewWriter(to io.Writer, stream Stream) *Writer { return &Writer{to: to, stream: stream} }

// Write implements io.Writer. It reports the bytes that it was given as written. The writer
// behind it is called each time, if need be with nothing.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stream.idle() {
		return w.to.Write(p)
	}
	if _, err := io.WriteString(w.to, w.stream.Next(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.stream.Rest()
	if rest == "" {
		return nil
	}
	_, err := io.WriteString(w.to, rest)
	return err
}
