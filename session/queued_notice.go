package session

import (
	"fmt"
	"slices"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// announceQueued tells the user that a prompt waits, and what for. A prompt that starts at once
// is not announced. Prompts are announced in the order in which they came.
func (s *Session) announceQueued(t *Turn) {
	if _, waits := s.turns.ahead(t); !waits && s.host.Tape == nil {
		return // with a tape, the look below decides
	}
	previous, announced := s.turns.nextAnnouncement()
	started := s.life.start(func() { // the caller must not wait for a slow client
		if previous != nil {
			<-previous
		}
		key := fmt.Sprintf("%s prompt %d", s.ID, t.number)
		format := record.Look(s.host.Tape, "queued", key, func() string { return s.queuedFormat(t) })
		if format != "" {
			s.conversation.noticeQueued(t, format)
		}
		close(announced)
		if format != "" {
			s.host.Tape.Reach("queued and told", key)
		}
	})
	if !started {
		close(announced) // the next announcement may have started before the session closed
	}
}

// nextAnnouncement returns a channel for the next announcement, which the caller closes when it is made, and the
// channel of the one before it; nil when there was none.
func (q *turnQueue) nextAnnouncement() (previous <-chan struct{}, announced chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	previous, announced = q.announced, make(chan struct{})
	q.announced = announced
	return previous, announced
}

// queuedFormat is the notice of a prompt that waits; "" when it does not.
func (s *Session) queuedFormat(t *Turn) string {
	before, waits := s.turns.ahead(t)
	switch {
	case !waits:
		return ""
	case s.choices.get().queue == queueSteer && s.turns.goesIn(t):
		return "The agent reads %s as soon as the tools that run have ended."
	case before > 0:
		return "Queued after this turn and " + kinds.Count(before, "message") + ": %s"
	}
	return "Queued after this turn: %s"
}

// noticeQueued tells the user what a queued prompt waits for. It is a notice and not a message, so that
// the prompt is in the record only where the model reads it. It passes the notice, because the command
// that may run did not emit it.
func (c *conversation) noticeQueued(t *Turn, format string) {
	c.pass(transcript.Notice{
		Severity: transcript.Warning, Title: "Queued", // else many clients do not show it
		Text: fmt.Sprintf(format, code(titleOf(t.prompt, c.naming.clean))),
	})
}

// ahead counts the prompts that run before a queued one, without that of the running turn. waits is
// true if a turn that takes time runs, or will run as soon as the current one is released.
func (q *turnQueue) ahead(t *Turn) (before int, waits bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.queued, t)
	if i < 0 {
		return 0, false
	}
	prompts := slices.DeleteFunc(slices.Clone(q.queued[:i]), func(t *Turn) bool { return t.synthetic != nil })
	switch {
	case q.current.takesTime():
		return len(prompts), true
	case len(prompts) > 0 && prompts[0].takesTime():
		return len(prompts) - 1, true
	}
	return 0, false
}

// goesIn reports whether a queued prompt will go into the running turn, which it does unless it or a
// prompt before it does not steer.
func (q *turnQueue) goesIn(t *Turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.queued, t)
	return i >= 0 && q.current != nil && !q.current.ended() &&
		!slices.ContainsFunc(q.queued[:i+1], func(t *Turn) bool { return t.synthetic == nil && !t.steers })
}
