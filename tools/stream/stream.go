package stream

import (
	"fmt"
	"unicode/utf8"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// keepBytes is how much of a stream is kept in memory, so that an answer of
// that size can still be recognised as one of the known shapes.
const keepBytes = 1 << 20

// Stream takes what a program writes: all of it while it is small, and from
// then on the head, with the whole in a sidecar (R104). It is used by one
// writer at a time.
type Stream struct {
	rt      tools.Runtime
	limit   int // characters shown
	head    []byte
	size    int64
	sidecar tools.Sidecar
	err     error
	closed  bool
	cut     bool
}

// New returns the stream of a call, bounded by the StreamBytes of its session.
func New(rt tools.Runtime) *Stream {
	limit := rt.Session().Limits.StreamBytes
	if limit <= 0 {
		limit = tools.CanonicalLimits().StreamBytes
	}
	return &Stream{rt: rt, limit: limit}
}

// Write implements io.Writer; it never fails, for a program is not stopped by
// what becomes of its output.
func (s *Stream) Write(text []byte) (int, error) {
	s.size += int64(len(text))
	room := max(keepBytes, utf8.UTFMax*s.limit) - len(s.head)
	if len(text) <= room {
		s.head = append(s.head, text...)
		return len(text), nil
	}
	s.spill()
	if s.sidecar != nil && !s.closed {
		if _, err := s.sidecar.Write(text); err != nil {
			s.err = err
		}
	}
	s.head = append(s.head, text[:room]...)
	return len(text), nil
}

// spill begins the sidecar with what is kept so far.
func (s *Stream) spill() {
	if s.sidecar != nil || s.err != nil {
		return
	}
	if s.sidecar, s.err = s.rt.Sidecar(); s.err != nil {
		s.sidecar = nil
		return
	}
	if _, err := s.sidecar.Write(s.head); err != nil {
		s.err = err
	}
}

// Whole returns all of the stream when it was kept.
func (s *Stream) Whole() ([]byte, bool) { return s.head, s.size == int64(len(s.head)) }

// Text is the stream as it is shown: the first characters up to the limit, and
// where the rest stands. path is empty when nothing was cut, or when the rest
// could not be kept, which the text then says.
func (s *Stream) Text() (text, path string) {
	end := len(textcut.Characters(s.head, s.limit))
	if end == len(s.head) && s.size == int64(end) {
		return valid(s.head), ""
	}
	s.cut = true
	s.spill()
	s.Close()
	text = valid(s.head[:end]) + fmt.Sprintf("\n[Output truncated - exceeded %dKB limit]", s.limit/1000)
	switch {
	case s.sidecar == nil:
		return text + fmt.Sprintf("\nThe rest could not be kept: %v", s.err), ""
	case s.err != nil:
		text += fmt.Sprintf("\nNot all of the rest could be kept: %v", s.err)
	case s.sidecar.Dropped() > 0:
		text += fmt.Sprintf("\n%d bytes of the rest were dropped: the session's space is full", s.sidecar.Dropped())
	}
	return text, s.sidecar.Path()
}

// Cut reports whether Text left something out.
func (s *Stream) Cut() bool { return s.cut }

// Close ends the sidecar, if there is one; Text has done so when it cut.
func (s *Stream) Close() {
	if s.sidecar == nil || s.closed {
		return
	}
	s.closed = true
	if err := s.sidecar.Close(); err != nil && s.err == nil {
		s.err = err
	}
}

func valid(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	return string([]rune(string(text)))
}
