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

// The causes that cancel a subagent.
var (
	// errParentAborted means that the delegating agent was aborted (R67).
	errParentAborted = &tools.Error{Kind: tools.Aborted, Message: "aborted by parent"}
	// errStopped means that the user stopped this subagent.
	errStopped = &tools.Error{
		Kind: tools.Aborted, Message: "the user stopped this subagent",
		Hint: "Do not start it again. Go on without it, or ask what they want instead.",
	}
	// errTimeSpent means that its time limit, or that of an ancestor, is used up.
	errTimeSpent = &tools.Error{Kind: tools.Aborted, Message: "the time of the subagent is up"}
)

var errRefused = errors.New("the model refused")

// closeGrace is how long a cancelled subagent may take to end. It is shorter than the
// pipeline's grace for a delegating call, so that the subagent's end is reported before the
// call's.
const closeGrace = 500 * time.Millisecond

// outcome describes how a subagent ended.
type outcome struct {
	state transcript.ChildState
	// note is the reason why it did not finish by itself.
	note string
	// failure is the error of the call that waited for it. It is nil when the subagent ended,
	// even at a limit. result is always set.
	failure error
	result  *tools.Delegated
}

func failed(err error) outcome { return outcome{state: transcript.ChildFailed, note: err.Error()} }

// cancelledOutcome is the outcome of a cancelled subagent. One whose time limit is used up
// counts as done.
func (n *Node) cancelledOutcome() outcome {
	cause := context.Cause(n.ctx)
	if errors.Is(cause, errTimeSpent) {
		return outcome{state: transcript.ChildDone, note: "it was stopped because " + n.account.exhaustedNow()}
	}
	aborted := errParentAborted
	if errors.Is(cause, errStopped) {
		aborted = errStopped
	}
	return outcome{state: transcript.ChildCancelled, note: aborted.Message, failure: aborted}
}

// cancelExpired cancels the agent of an account whose time limit is used up, and its
// descendants.
func (t *Tree) cancelExpired(a *account) {
	for _, n := range t.activeNodes() {
		if n.account.isBelow(a) {
			n.cancel(errTimeSpent)
		}
	}
}

// closeLate closes a cancelled subagent that does not end within closeGrace.
func (n *Node) closeLate() {
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-n.done:
	case <-grace.C:
		n.close(n.cancelledOutcome())
	}
}

// close ends the subagent exactly once: it closes the children that the subagent waited for,
// its open calls and its record, and notifies its waiters. Later output of the subagent's
// goroutine is dropped. close returns when all of this is done.
func (n *Node) close(end outcome) {
	n.closing.Do(func() {
		<-n.announced
		n.closeChildren(end.state == transcript.ChildCancelled)
		n.cancel(nil)
		n.slot.close()
		n.mute(end)
		n.child.Update(func(r *transcript.ChildRecord) {
			r.State, r.Note, r.Ended, r.Output = end.state, end.note, time.Now(), output(n.log.Record())
		})
		if end.state == transcript.ChildFailed {
			end.failure = tools.Errorf(tools.Backend, "the subagent %s failed: %s", n.manifest.Name, end.note)
		}
		end.result = n.result()
		n.outcome = end
		n.forwardReports() // before showEnd: a prompt that follows the end must find the report in the queue
		n.showEnd()
		close(n.done)
		n.tree.remove(n)
	})
}

// closeChildren closes the children that the agent waits for. Background descendants are
// cancelled if the agent was aborted (R67); otherwise they continue.
func (n *Node) closeChildren(aborted bool) {
	for _, other := range n.tree.activeNodes() {
		if other.parent == n {
			<-other.announced // its start must be emitted before n is muted
		}
		waited := other.parent == n && !other.child.Brief().Background
		if waited || aborted && other.isBelow(n) {
			other.cancel(errParentAborted)
		}
		if waited {
			other.close(other.cancelledOutcome())
		}
	}
}

// mute drops further output of the agent and closes its open texts and calls.
func (n *Node) mute(end outcome) {
	n.outputMu.Lock()
	n.muted = true
	n.outputMu.Unlock()
	state, text := transcript.Failed, "the subagent ended before this call did"
	if end.state == transcript.ChildCancelled {
		state, text = transcript.Cancelled, end.note
	}
	parts, calls := n.view.open()
	for _, id := range parts {
		n.up(transcript.PartEnded{PartID: id})
	}
	for _, call := range calls {
		e := pipeline.Unrun(call.CallID, call.label, state, text)
		n.log.Apply(e)
		n.view.apply(e)
		n.up(e)
	}
	n.log.Seal()
}

// output returns the last message of a conversation. Pieces that the token limit cut apart
// count as one message (R66).
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
