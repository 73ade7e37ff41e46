package subagent

import (
	"context"
	"errors"
	"time"

	"acp-agent/loop"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// The causes that a subagent is cancelled with.
var (
	// ErrParentAborted is the abort of what delegated to it (R67).
	ErrParentAborted = &tools.Error{Kind: tools.Aborted, Message: "aborted by parent"}
	// ErrStopped is the person's stop of this one.
	ErrStopped = &tools.Error{
		Kind: tools.Aborted, Message: "the user stopped this subagent",
		Hint: "Do not start it again. Go on without it, or ask what they want instead.",
	}
	// errTimeSpent is the end of its time, or of the time of an agent above it.
	errTimeSpent = &tools.Error{Kind: tools.Aborted, Message: "the time of the subagent is up"}
)

var errRefused = errors.New("the model refused")

// closeGrace is how long a cancelled subagent has to end. It is shorter than the pipeline
// waits for a call that delegates, so that the end of the subagent is told first.
const closeGrace = 500 * time.Millisecond

// ending is what came of a subagent.
type ending struct {
	state transcript.ChildState
	// note says what kept it from ending by itself.
	note string
	// failure is the error of the call that waited for it; nil when it ended, though it
	// may have been stopped at a bound. result is what it did, whatever came of it.
	failure error
	result  *tools.Delegated
}

func failed(err error) ending { return ending{state: transcript.ChildFailed, note: err.Error()} }

// stopped is the ending of a subagent that was cancelled. What it has done when its time
// is up is done.
func (n *Node) stopped() ending {
	cause := context.Cause(n.ctx)
	if errors.Is(cause, errTimeSpent) {
		return ending{state: transcript.ChildDone, note: "it was stopped because " + n.account.reached()}
	}
	aborted := ErrParentAborted
	if errors.Is(cause, ErrStopped) {
		aborted = ErrStopped
	}
	return ending{state: transcript.ChildCancelled, note: aborted.Message, failure: aborted}
}

// timeUp ends those whose time is up: the agent of an account, if it has not ended, and all
// below it.
func (f *Family) timeUp(a *account) {
	for _, n := range f.alive() {
		if n.account.under(a) {
			n.cancel(errTimeSpent)
		}
	}
}

// closeLate closes a subagent that was cancelled and does not end in time.
func (n *Node) closeLate() {
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-n.done:
	case <-grace.C:
		n.close(n.stopped())
	}
}

// close ends the subagent for everybody, once: those below it that it waited for are
// closed, then its open calls, then its record, and whoever waits for it is told. What its
// goroutine may still say is dropped. It returns when all of that is done.
func (n *Node) close(end ending) {
	n.closing.Do(func() {
		<-n.begun
		n.closeBelow(end.state == transcript.ChildCancelled)
		n.cancel(nil)
		n.leavePlace()
		n.hush(end)
		n.child.Update(func(r *transcript.ChildRecord) {
			r.State, r.Note, r.Ended, r.Output = end.state, end.note, time.Now(), output(n.log.Messages())
		})
		if end.state == transcript.ChildFailed {
			end.failure = tools.Errorf(tools.Backend, "the subagent %s failed: %s", n.manifest.Name, end.note)
		}
		end.result = n.result()
		n.ending = end
		n.passOn() // before the end is shown: a prompt that follows it is to find the report in the queue
		n.showEnd()
		close(n.done)
		n.family.leave(n)
	})
}

// closeBelow closes what the agent waits for; what runs in the background below it is
// cancelled when it was aborted itself (R67), and goes on otherwise.
func (n *Node) closeBelow(aborted bool) {
	for _, other := range n.family.alive() {
		if other.parent == n {
			<-other.begun // or its beginning would be told after the silence
		}
		waited := other.parent == n && !other.child.Brief().Background
		if waited || aborted && other.under(n) {
			other.cancel(ErrParentAborted)
		}
		if waited {
			other.close(other.stopped())
		}
	}
}

// hush has the agent say nothing more, and ends what it has begun to say and the calls of
// it that are open.
func (n *Node) hush(end ending) {
	n.voice.Lock()
	n.silent = true
	n.voice.Unlock()
	state, text := transcript.Failed, "the subagent ended before this call did"
	if end.state == transcript.ChildCancelled {
		state, text = transcript.Cancelled, end.note
	}
	parts, calls := n.view.open()
	for _, id := range parts {
		n.up(transcript.PartEnded{PartID: id})
	}
	for _, call := range calls {
		e := pipeline.Unrun(call.CallID, call.Tool, state, text)
		n.log.Apply(e)
		n.view.note(e)
		n.up(e)
	}
	n.log.Seal()
}

// output is the last message of a conversation. What the token limit cut into pieces is
// one message (R66).
func output(messages []*transcript.Message) string {
	last, cut := "", false
	for _, m := range messages {
		switch {
		case loop.GoesOn(m):
			cut = true
		case m.Role == transcript.Assistant && !m.Synthetic && m.Text() != "":
			if !cut {
				last = ""
			}
			last, cut = last+m.Text(), false
		default:
			cut = false
		}
	}
	return last
}
