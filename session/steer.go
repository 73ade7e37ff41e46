package session

import (
	"fmt"
	"slices"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/transcript"
)

// The values of the option queue: what becomes of a prompt that comes while a turn runs
// (R143).
const (
	queueAfter = "after" // it runs as a turn of its own
	queueSteer = "steer" // it goes in before the next request of the running turn
)

// queueOption is the option queue with its current value.
func queueOption(current string) Option {
	return Option{
		ID: QueueOption, Name: "Messages during a turn", Current: current,
		Description: "What becomes of a message that you send while the agent works.",
		Values: []Value{
			{ID: queueAfter, Name: "After the turn", Description: "It waits until the turn has ended."},
			{ID: queueSteer, Name: "Into the turn", Description: "The agent reads it as soon as the tools that run have ended."},
		},
	}
}

// announceQueued tells the user that a prompt waits, and what for. A prompt that starts at once
// is not announced.
func (s *Session) announceQueued(t *Turn) {
	if _, waits := s.turns.ahead(t); !waits {
		return
	}
	s.life.start(func() { // the caller must not wait for a client that does not read
		before, waits := s.turns.ahead(t)
		switch {
		case !waits:
		case s.choices.get().queue == queueSteer && s.turns.goesIn(t):
			s.conversation.noticeQueued(t, "The agent reads %s as soon as the tools that run have ended.")
		case before > 0:
			s.conversation.noticeQueued(t, "Queued after this turn and "+kinds.Count(before, "message")+": %s")
		default:
			s.conversation.noticeQueued(t, "Queued after this turn: %s")
		}
	})
}

// noticeQueued shows where a queued prompt stands. It is a notice and not a message, for the
// prompt itself stands in the record where the model read it. It is not part of the command that
// may run, so that the record of a command does not have it.
func (c *conversation) noticeQueued(t *Turn, format string) {
	c.pass(transcript.Notice{
		Severity: transcript.Warning, Title: "Queued", // else many clients do not show it
		Text: fmt.Sprintf(format, code(titleOf(t.prompt, c.naming.known))),
	})
}

// steered are the prompts that go into the running turn now, made ready like the prompt that
// the turn began with.
func (r *runningTurn) steered() []*transcript.Message {
	if r.choices.get().queue != queueSteer {
		return nil
	}
	var list []*transcript.Message
	for _, t := range r.queue.takeSteered() {
		r.prompts.dropSecretAttachments(t.prompt)
		r.prompts.readMentions(t)
		r.conversation.nameHosts(hostsIn(t.prompt))
		r.prompts.checkImages(t, r.backend, r.chosen.model)
		r.conversation.noticeQueued(t, "The agent reads %s now.")
		list = append(list, t.prompt)
	}
	return list
}

// ahead counts the prompts that run before a queued one, without that of the running turn.
// waits is false unless the turn of a prompt runs that takes its time, or runs as soon as the
// answer of the one before it is delivered.
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

// goesIn reports whether a turn waits to go into the one that runs: no prompt before it stays
// in the queue.
func (q *turnQueue) goesIn(t *Turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.queued, t)
	return i >= 0 && q.current != nil && !q.current.ended() &&
		!slices.ContainsFunc(q.queued[:i+1], func(t *Turn) bool { return t.synthetic == nil && !t.steers })
}

// takeEarly takes the messages of the agent itself out of the queue that may go into the running
// turn.
func (q *turnQueue) takeEarly() (list []*synthetic) {
	q.mu.Lock()
	var taken []*Turn
	q.queued = slices.DeleteFunc(q.queued, func(t *Turn) bool {
		early := t.synthetic != nil && t.synthetic.early
		if early {
			taken = append(taken, t)
		}
		return early
	})
	q.mu.Unlock()
	for _, t := range taken {
		list = append(list, t.synthetic)
		t.end(loop.EndTurn, nil)
		t.Release()
	}
	return list
}

// takeSteered takes the prompts out of the queue that go into the running turn, with which
// they end: the first ones, up to one that does not, so that none overtakes another.
func (q *turnQueue) takeSteered() []*Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken, left []*Turn
	stopped := false
	for _, t := range q.queued {
		if t.steers && !stopped {
			taken = append(taken, t)
			continue
		}
		stopped = stopped || t.synthetic == nil
		left = append(left, t)
	}
	q.queued, q.steered = left, append(q.steered, taken...)
	return taken
}
