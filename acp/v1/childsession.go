package v1

import (
	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// The draft of sessions of subagents. A client that announces it is told of each
// subagent on the session which that belongs to, and gets what the subagent was asked,
// says and plans on the subagent's own session. The calls stay on the session that the
// person prompts, like everywhere: a call that is asked about, and its terminal, must be
// known there. Nothing can be sent to such a session, for nothing is offered.

// taskRunes bounds what is told of a subagent's task.
const taskRunes = 200

// announce tells of a new subagent, before anything else that names its session.
func (t *translator) announce(child *childView, record transcript.ChildRecord) {
	if !t.client.subagents || record.ID == "" {
		return
	}
	child.session = record.ID
	update := schema.SubagentUpdate{
		SessionID: schema.SessionId(child.session), Title: schema.Value(kinds.Line(record.Agent, nameRunes)),
		Description: schema.Value(kinds.Line(record.Prompt, taskRunes)),
	}
	if record.State == transcript.ChildRunning {
		child.state = schema.SubagentRunning
		update.State = &schema.SubagentState{State: child.state}
	}
	t.sendTo(t.above(child), update)
}

// above is the session that a subagent belongs to.
func (t *translator) above(child *childView) string {
	if child.of == nil || child.of.session == "" {
		return t.session
	}
	return child.of.session
}

// stands tells what a subagent does, if that has changed.
func (t *translator) stands(child *childView, state schema.SubagentState) {
	if child == nil || child.session == "" || child.state == state.State {
		return
	}
	child.state = state.State
	t.sendTo(t.above(child), schema.SubagentUpdate{SessionID: schema.SessionId(child.session), State: &state})
}

// asks notes that a call of a subagent waits for the person, or no longer does.
func (t *translator) asks(child *childView, view *callView, waits bool) {
	if child == nil || view.asking == waits {
		return
	}
	view.asking = waits
	if waits {
		child.asking++
		t.stands(child, schema.SubagentState{State: schema.SubagentRequiresAction})
		return
	}
	if child.asking--; child.asking == 0 && child.ended == nil {
		t.stands(child, schema.SubagentState{State: schema.SubagentRunning})
	}
}

// inSession sends what a subagent was asked, says and plans to its own session.
func (t *translator) inSession(child *childView, e transcript.Event) {
	if _, ok := e.(transcript.PartDelta); !ok {
		t.flushStream(child.session, &child.text)
	}
	switch e := e.(type) {
	case transcript.PartStarted, transcript.PartDelta, transcript.PartEnded:
		t.part(child.session, &child.text, e)
	case transcript.TurnStarted, transcript.StepStarted:
		if child.asking == 0 {
			t.stands(child, schema.SubagentState{State: schema.SubagentRunning})
		}
	case transcript.UserSaid:
		t.sendTo(child.session, taskMessage(t.above(child), child.session, e.Message))
	case transcript.AgentSaid:
		t.sendTo(child.session, textUpdate(transcript.TextKind, e.Message.ID, e.Message.Text()))
	case transcript.PlanChanged:
		t.sendTo(child.session, planUpdate(e))
	}
}

// taskMessage shows in a subagent's session what the agent above it wants.
func taskMessage(from, to string, m *transcript.Message) schema.SessionUpdate {
	update := schema.SessionMessage{
		MessageID: schema.MessageId(m.ID), SenderSessionID: schema.SessionId(from), RecipientSessionID: schema.SessionId(to),
		Content: schema.List[schema.ContentBlock]{},
	}
	for _, part := range m.Parts {
		if text, ok := part.(*transcript.TextPart); ok && !text.Synthetic {
			update.Content = append(update.Content, schema.TextContent{Text: text.Text})
		}
	}
	return update
}

// depart tells that a subagent has ended: its session does nothing any more.
func (t *translator) depart(child *childView, record transcript.ChildRecord) {
	if child.session == "" {
		return
	}
	t.flushStream(child.session, &child.text)
	clear(child.text.parts)
	state := schema.SubagentState{State: schema.SubagentIdle, StopReason: schema.StopError}
	switch record.State {
	case transcript.ChildDone:
		state.StopReason = string(schema.StopReasonEndTurn)
	case transcript.ChildCancelled:
		state.StopReason = string(schema.StopReasonCancelled)
	default:
		state.Error = &schema.SubagentError{Code: rpc.CodeInternalError, Message: kinds.Line(record.Note, spanLimit)}
		if record.Note == "" {
			state.Error.Message = string(record.State)
		}
	}
	t.stands(child, state)
}
