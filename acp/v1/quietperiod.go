package v1

import (
	"sync/atomic"
	"time"

	"acp-agent/acp/rpc"
)

// quietTime is how long after the answer of a cancelled turn the session sends no state of
// its own accord. A client that insists on 2 s counts from when it read the answer, which is
// a moment after the answer was written.
const quietTime = 2*time.Second + 250*time.Millisecond

// quietPeriod is the time after the answer of a cancelled turn, which some clients expect to
// be the last message. A change of the session's state waits until the period is over or the
// next prompt arrives, and is then sent once, with its value at that time. Updates of a
// prompt, of a request of the client or of a background subagent do not wait.
//
// The translator's lock guards it, except for prompts, which the read loop counts: the read
// loop must not wait for a client that does not read.
type quietPeriod struct {
	prompts atomic.Int64 // prompts without an answer
	unsent  int          // answers that start a quiet period and are not written yet
	until   time.Time
	now     func() time.Time
}

// active reports whether the period lasts. The next prompt ends it.
func (q *quietPeriod) active() bool {
	if q.prompts.Load() > 0 {
		q.until = time.Time{}
		return false
	}
	return q.unsent > 0 || q.now().Before(q.until)
}

// promptReceived counts a prompt. The read loop calls it before the prompt can start a turn.
func (t *translator) promptReceived() {
	t.out.quiet.prompts.Add(1)
	t.out.openLine.Store(false)
}

// promptAnswered is called before the answer to a prompt is sent.
func (t *translator) promptAnswered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.quiet.prompts.Add(-1)
	t.cards.turns++
}

// startingQuiet makes a reply start a quiet period: the period lasts from before the reply is
// sent, so that nothing slips in between, until quietTime after it was written. The reply's
// own Then runs before that.
func (s *open) startingQuiet(conn *rpc.Conn, reply rpc.Reply) rpc.Reply {
	then := reply.Then
	s.translator.startQuiet()
	reply.Then = func() {
		if then != nil {
			then()
		}
		if conn.Flush(s.Context()) == nil {
			s.translator.quietAnswerWritten()
		}
	}
	return reply
}

func (t *translator) startQuiet() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.quiet.unsent++
}

// quietAnswerWritten starts the clock of the quiet period.
func (t *translator) quietAnswerWritten() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.quiet.unsent--
	t.out.quiet.until = t.out.now().Add(quietTime)
	t.state.scheduleHeld()
}
