package transcript

import (
	"maps"
	"slices"
	"time"
)

// RestartText is the error of a call that was open when the process ended (R141).
const RestartText = "aborted by host restart"

// questionTool is the tool whose calls are questions to the user (R74).
const questionTool = "question"

// AfterRestart returns the state of a session whose process has ended, so that another one can resume it:
// nothing is running any more, and nothing is run again (R141).
//
// A tool call that was queued or running ends as failed, aborted by the restart. Calls that wait for the
// user, questions and approvals, stay open. A subagent that had not ended is lost, with a note, and so are
// the subagents below it. All of its calls end, also the ones that wait for the user, because no agent is
// left that could use the answer. The call that waited for the subagent ends as failed.
//
// lost are the subagents in the background that the conversation itself has spawned, about whose end its
// agent has to be told (R68). at is the time at which they ended. s is not changed. AfterRestart is
// idempotent.
func AfterRestart(s Snapshot, at time.Time) (after Snapshot, lost []*Child) {
	after = Snapshot{Memory: s.Memory.Clone(), Hidden: maps.Clone(s.Hidden)}
	after.Messages, lost = restart{at: at}.messages(s.Messages)
	return after, lost
}

// restart closes what a process left open.
type restart struct {
	at time.Time
	// over says that the conversation is a subagent's, which does not continue.
	over bool
}

func (r restart) messages(list []*Message) (after []*Message, lost []*Child) {
	for _, m := range list {
		closed, below := r.message(m)
		after, lost = append(after, closed), append(lost, below...)
	}
	return after, lost
}

// message returns m itself when nothing in it was open.
func (r restart) message(m *Message) (after *Message, lost []*Child) {
	parts := slices.Clone(m.Parts)
	changed, finished := false, true
	for i, part := range parts {
		call, isCall := part.(*ToolPart)
		if !isCall {
			continue
		}
		closed, child := r.call(call)
		if closed != call {
			parts[i], changed = closed, true
		}
		if child != nil {
			lost = append(lost, child)
		}
		finished = finished && closed.State.Terminal()
	}
	if !changed && (m.Finished || !finished) {
		return m, lost
	}
	copied := *m
	copied.Parts, copied.Finished = parts, m.Finished || finished
	return &copied, lost
}

// call returns the call in its new state; call itself when it had ended or still waits. lost is its subagent
// if that was lost after the call had its result.
func (r restart) call(call *ToolPart) (after *ToolPart, lost *Child) {
	child, gone := r.child(call.Child)
	open := !call.State.Terminal() && (r.over || gone || !call.waits())
	if !open && child == call.Child {
		return call, nil
	}
	copied := *call
	copied.Child = child
	if open {
		copied.abort()
	} else if gone {
		lost = child
	}
	return &copied, lost
}

// waits reports whether the call waits for the user.
func (p *ToolPart) waits() bool {
	return p.State == BlockedOnUser || !p.State.Terminal() && p.Tool == questionTool
}

// abort ends a call that the restart found open.
func (p *ToolPart) abort() {
	text := RestartText + "; it was not run"
	if p.State == InProgress {
		text = RestartText + "; it is not known what it had done, and it was not run again"
	}
	p.State, p.Text, p.Shown, p.Printed, p.Images = Failed, text, "", "", nil
	p.Card.Content = nil
	p.Result = &Envelope{Type: Error, ErrorText: text, Error: &ErrorDetail{Kind: restartKind}}
}

// restartKind is the kind of error of a call that the restart found open: not a cancellation, but a failure
// of the host.
const restartKind = "backend"

// child returns the subagent in its new state; c itself when it had ended, with all subagents below it. gone
// says that this restart has lost it.
func (r restart) child(c *Child) (after *Child, gone bool) {
	if c == nil {
		return nil, false
	}
	record := c.Record()
	gone = !record.State.Terminal()
	below := restart{at: r.at, over: true}
	messages, _ := below.messages(record.Messages)
	if !gone && slices.Equal(messages, record.Messages) {
		return c, false
	}
	record.Messages = nil
	if gone {
		record.State, record.Ended = ChildLost, r.at
		record.Note = RestartText
	}
	var log *Log
	if !record.Inspectable {
		log = NewLog(messages...)
	}
	after = NewChild(record, log)
	after.SetEnd(c.End())
	return after, gone
}
