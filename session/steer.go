package session

import (
	"fmt"
	"slices"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// The values of the option queue: what becomes of a prompt that comes while a turn runs
// (R143).
const (
	queueAfter = "after" // it runs as a turn of its own
	queueSteer = "steer" // it goes into the running turn, before its next request
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

// Steer puts a message into the running turn, whatever the option queue says, and reports that it
// did: the turn goes on until the model has answered it. A message that no turn can take, because
// none runs or because the message is a command, runs as a turn of its own if start is set, and else
// nothing happens, and the result is nil. Steer never blocks. Pass the result to [Session.Attend].
func (s *Session) Steer(parts []transcript.Part, start bool) (t *Turn, injected bool) {
	t = s.newTurn(parts)
	switch {
	case t.steers && s.turns.inject(t):
		return t, true
	case start:
		return s.turns.add(t), false
	}
	return nil, false
}

// Attend waits for a turn that no request waits for, tells the user where it failed, and releases it.
func (s *Session) Attend(t *Turn) {
	_, err := t.Wait(s.life.ctx)
	if err != nil && !s.turns.answersFor(t) {
		s.conversation.pass(transcript.Notice{
			Severity: transcript.Warning, Title: "Not answered",
			Text: fmt.Sprintf("%s: %s", code(titleOf(t.prompt, s.conversation.naming.clean)), err),
		})
	}
	t.Release()
}

// readSteered prepares the prompts that go into the running turn now like the prompt of the turn.
func (r *runningTurn) readSteered(taken []*Turn) []*transcript.Message {
	var list []*transcript.Message
	for _, t := range taken {
		r.prompts.dropSecretAttachments(t.prompt)
		r.prompts.readMentions(t)
		r.conversation.nameHosts(hostsIn(t.prompt))
		r.prompts.checkImages(t, r.backend, r.chosen.model)
		if !t.injected { // else its client shows what became of it
			r.conversation.noticeQueued(t, "The agent reads %s now.")
		}
		list = append(list, t.prompt)
	}
	return list
}

// popEarly removes the messages of the agent itself from the queue that may go into the running turn,
// and ends their turns.
func (q *turnQueue) popEarly() (list []*synthetic) {
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

// inject queues a message that goes into the running turn, before the prompts that wait. It reports
// false, and does nothing, where no turn runs that will take it.
func (q *turnQueue) inject(t *Turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || !q.current.takesTime() || !q.current.steers || q.current.sealed || q.current.ctx.Err() != nil {
		return false
	}
	q.prepare(t)
	t.injected = true
	q.queued = slices.Insert(q.queued, q.nextPrompt(func(t *Turn) bool { return !t.injected }), t)
	return true
}

// popInjected removes the injected messages from the queue, which make a turn go on whose prompt the
// model has answered. Without any, the turn takes no more.
func (q *turnQueue) popInjected() []*Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.popSteeredLocked(false)
	q.current.sealed = len(taken) == 0
	return taken
}

// answersFor reports whether a turn ended with the one that it went into, whose own request is
// answered.
func (q *turnQueue) answersFor(t *Turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return t.wentIn
}

// popSteered removes the prompts from the queue that go into the running turn, and end with it:
// injected ones, and with all set the first ones up to one that does not steer, so that no prompt
// overtakes another.
func (q *turnQueue) popSteered(all bool) []*Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.popSteeredLocked(all)
}

// popSteeredLocked is popSteered for a caller that holds the lock.
func (q *turnQueue) popSteeredLocked(all bool) []*Turn {
	var taken, left []*Turn
	stopped := !all
	for _, t := range q.queued {
		if t.injected || t.steers && !stopped {
			t.wentIn = true
			taken = append(taken, t)
			continue
		}
		stopped = stopped || t.synthetic == nil
		left = append(left, t)
	}
	q.queued, q.steered = left, append(q.steered, taken...)
	return taken
}
