package v1

import (
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/transcript"
)

// Pacing of streamed text: the first piece goes out at once, then at most one
// update per textInterval or textBytes, so that a fast model does not flood an
// editor and a slow one is shown without delay.
const (
	textInterval = 25 * time.Millisecond
	textBytes    = 4 << 10
)

// stream is what one agent says and thinks.
type stream struct {
	parts   map[string]openPart
	waiting strings.Builder // not sent yet, of part of
	of      openPart
	sent    time.Time       // when text was last sent
	said    strings.Builder // in this turn, see unsaid
}

// openPart is a part that is streaming in.
type openPart struct {
	message string
	kind    transcript.PartKind
}

func newStream() stream { return stream{parts: map[string]openPart{}} }

// part takes what an agent says, which is shown in the given session.
func (t *translator) part(session string, s *stream, e transcript.Event) {
	switch e := e.(type) {
	case transcript.PartStarted:
		s.parts[e.PartID] = openPart{e.MessageID, e.Kind}
	case transcript.PartDelta:
		t.grow(session, s, e)
	case transcript.PartEnded:
		delete(s.parts, e.PartID)
	}
}

// grow adds to the text that waits, and sends it when it is due.
func (t *translator) grow(session string, s *stream, delta transcript.PartDelta) {
	part, ok := s.parts[delta.PartID]
	if !ok {
		return
	}
	if s.waiting.Len() > 0 && s.of != part {
		t.flushStream(session, s)
	}
	s.of = part
	s.note(part, delta.Text)
	s.waiting.WriteString(delta.Text)
	wait := textInterval - t.now().Sub(s.sent)
	if wait <= 0 || s.waiting.Len() >= textBytes {
		t.flushStream(session, s)
		return
	}
	t.schedule(wait)
}

// flushStream sends the text that waits.
func (t *translator) flushStream(session string, s *stream) {
	if s.waiting.Len() == 0 {
		return
	}
	text := s.waiting.String()
	s.waiting.Reset()
	s.sent = t.now()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "�")
	}
	t.sendTo(session, textUpdate(s.of.kind, s.of.message, text))
}
