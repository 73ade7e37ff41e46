package v1

import (
	"sync/atomic"
	"time"

	"acp-agent/acp/rpc"
)

// quietTime is how long after an answer that begins a quiet a client hears nothing of what
// the session has to say of itself. A client that insists on 2 s counts from when it has read
// the answer, which is a moment after it was written.
const quietTime = 2*time.Second + 250*time.Millisecond

// quiet is the time after an answer that a client expects to be the last message: that of a
// cancelled turn. What the session has to say of itself waits until the time is over or the
// next prompt has come, and is then said once, as it is by then. What belongs to a prompt, to
// a request of the client or to a subagent in the background does not wait.
//
// The translator's lock guards it, but for prompts, which the read loop counts: it must not
// wait for a client that does not read.
type quiet struct {
	prompts atomic.Int64 // prompts without an answer
	unsent  int          // answers that begin a quiet and are not written yet
	until   time.Time
	now     func() time.Time
}

// holds reports whether the quiet lasts. The next prompt ends it.
func (q *quiet) holds() bool {
	if q.prompts.Load() > 0 {
		q.until = time.Time{}
		return false
	}
	return q.unsent > 0 || q.now().Before(q.until)
}

// awaitEnd has the timer fire at the end of the quiet, if something waits for it. While the
// answer is not written, the end is not known; answerWritten comes here then.
func (t *translator) awaitEnd() {
	if t.quiet.unsent == 0 && t.held != [factCount]bool{} {
		t.schedule(t.quiet.until.Sub(t.now()))
	}
}

// prompted counts a prompt; it is called on the read loop, before the prompt can begin.
func (t *translator) prompted() {
	t.quiet.prompts.Add(1)
	t.unbroken.Store(false)
}

// promptAnswered is for the moment before the answer to a prompt is sent.
func (t *translator) promptAnswered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.quiet.prompts.Add(-1)
}

// quietly makes a reply begin a quiet: from before it is sent, so that nothing slips in
// between, until quietTime after it was written. Then of the reply runs before that.
func (s *open) quietly(conn *rpc.Conn, reply rpc.Reply) rpc.Reply {
	then := reply.Then
	s.translator.beginQuiet()
	reply.Then = func() {
		if then != nil {
			then()
		}
		if conn.Flush(s.Context()) == nil {
			s.translator.answerWritten()
		}
	}
	return reply
}

func (t *translator) beginQuiet() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.quiet.unsent++
}

// answerWritten has the time of the quiet run.
func (t *translator) answerWritten() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.quiet.unsent--
	t.quiet.until = t.now().Add(quietTime)
	t.awaitEnd()
}

// stop ends the timer, and drops what waits for it: the session has ended.
func (t *translator) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held, t.waiting, t.late = [factCount]bool{}, nil, nil
	t.timer.Stop()
}
