package v1

import (
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/transcript"
)

// Pacing of streamed text: a piece goes out at once when the last update is textInterval
// old, and else with what gathers until then. While that update is not even written, for the
// client does not read, text gathers up to textBytes.
const (
	textInterval = 4 * time.Millisecond
	textBytes    = 4 << 10
	// unwrittenInterval is how often an update that is not written is looked at again.
	unwrittenInterval = 25 * time.Millisecond
)

// pace is when updates of one thing may be sent.
type pace struct {
	at       time.Time // of the last update
	position int64     // of the output after it
}

// wait is how long the next update has to wait; 0 means not at all.
func (t *translator) wait(p pace, interval time.Duration) time.Duration {
	if wait := interval - t.now().Sub(p.at); wait > 0 {
		return wait
	}
	if _, written := t.conn.Position(); written < p.position {
		return unwrittenInterval
	}
	return 0
}

// paced is the pace after an update that was just sent.
func (t *translator) paced() pace {
	sent, _ := t.conn.Position()
	return pace{at: t.now(), position: sent}
}

// stream is what one agent says and thinks.
type stream struct {
	parts   map[string]openPart
	waiting strings.Builder // not sent yet, of part of
	of      openPart
	said    strings.Builder // by the main agent in this turn, see unsaid
	last    pace
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
	s.waiting.WriteString(delta.Text)
	t.flushDue(session, s)
}

// flushDue sends the text that waits, or has the timer fire when that is due.
func (t *translator) flushDue(session string, s *stream) {
	if s.waiting.Len() == 0 {
		return
	}
	if wait := t.wait(s.last, textInterval); wait > 0 && s.waiting.Len() < textBytes {
		t.schedule(wait)
		return
	}
	t.flushStream(session, s)
}

// flushStream sends the text that waits.
func (t *translator) flushStream(session string, s *stream) {
	if s.waiting.Len() == 0 {
		return
	}
	text := s.waiting.String()
	s.waiting.Reset()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "�")
	}
	if session == t.session && s.of.kind == transcript.TextKind {
		if t.apart && t.unbroken.Load() {
			text = "\n\n" + text
		}
		t.noteBreak(text)
		s.note(text)
	}
	t.sendTo(session, textUpdate(s.of.kind, s.of.message, text))
	s.last = t.paced()
}
