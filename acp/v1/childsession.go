package v1

import (
	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Sessions of subagents are a draft of the protocol. A client that announces it is told of
// each subagent on the session of the agent that spawned it. The subagent's task, text and
// plan are sent on the subagent's own session. Its calls stay on the session that the user
// prompts: a call that the user is asked about, and its terminal, must be known there. No
// request can be made of a subagent's session.

// taskRunes bounds the description of a subagent, which is its task.
const taskRunes = 200

// announceChild announces a new subagent, before anything else that names its session.
func (o *outbox) announceChild(child *childView, record transcript.ChildRecord) {
	if !o.client.subagents || record.ID == "" {
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
	o.sendTo(o.parentSession(child), update)
}

// parentSession is the session on which a subagent is announced.
func (o *outbox) parentSession(child *childView) string {
	if child.parent == nil || child.parent.session == "" {
		return o.session
	}
	return child.parent.session
}

// sendChildState sends the state of a subagent if it has changed.
func (o *outbox) sendChildState(child *childView, state schema.SubagentState) {
	if child == nil || child.session == "" || child.state == state.State {
		return
	}
	child.state = state.State
	o.sendTo(o.parentSession(child), schema.SubagentUpdate{SessionID: schema.SessionId(child.session), State: &state})
}

// noteQuestion notes whether a call of a subagent waits for the user.
func (o *outbox) noteQuestion(child *childView, view *callView, open bool) {
	if child == nil || view.requests.open == open {
		return
	}
	view.requests.open = open
	if open {
		child.questions++
		o.sendChildState(child, schema.SubagentState{State: schema.SubagentRequiresAction})
		return
	}
	if child.questions--; child.questions == 0 && child.ended == nil {
		o.sendChildState(child, schema.SubagentState{State: schema.SubagentRunning})
	}
}

// emitInChildSession sends the task, text and plan of a subagent on its own session.
func (o *outbox) emitInChildSession(child *childView, e transcript.Event) {
	if _, ok := e.(transcript.PartDelta); !ok {
		o.flushStream(child.session, &child.text)
	}
	switch e := e.(type) {
	case transcript.PartStarted, transcript.PartDelta, transcript.PartEnded:
		o.part(child.session, &child.text, e)
	case transcript.TurnStarted, transcript.StepStarted:
		if child.questions == 0 {
			o.sendChildState(child, schema.SubagentState{State: schema.SubagentRunning})
		}
	case transcript.UserSaid:
		o.sendTo(child.session, taskMessage(o.parentSession(child), child.session, e.Message))
	case transcript.AgentSaid:
		o.sendTo(child.session, textUpdate(transcript.TextKind, e.Message.ID, e.Message.Text()))
	case transcript.PlanChanged:
		o.sendTo(child.session, planUpdate(e))
	}
}

// taskMessage shows a task in the session of the subagent that received it.
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

// endChildSession sends that a subagent has ended and its session is idle.
func (o *outbox) endChildSession(child *childView, record transcript.ChildRecord) {
	if child.session == "" {
		return
	}
	o.flushStream(child.session, &child.text)
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
	o.sendChildState(child, state)
}
