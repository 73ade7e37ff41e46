package store

import (
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// foldChild folds an event about the subagent that a call spawned.
func (r *Recorder) foldChild(t *openConversation, e transcript.Event) need {
	switch e := e.(type) {
	case transcript.ChildStarted:
		return r.startChild(t, e.CallID, e.Child)
	case transcript.ChildEvent:
		return r.childEvent(t, e)
	case transcript.ChildFinished:
		return r.finishChild(t, e)
	}
	return later
}

// childTitleRunes bounds the title of a subagent's session.
const childTitleRunes = 80

// childOf is the key of the subagent of a call: the id of a call is unique only in its conversation.
func childOf(t *openConversation, callID string) string { return t.sub + "/" + callID }

func (r *Recorder) startChild(t *openConversation, callID string, child *transcript.Child) need {
	if child == nil {
		return later
	}
	record := child.Brief()
	if checkID(record.ID) != nil {
		return later
	}
	r.addChild(t.sub, callID, record)
	if record.Inspectable {
		own := r.store.Create(Info{
			ID: record.ID, ParentID: record.ParentID, ParentMessageID: record.ParentMessageID, Agent: record.Agent,
			Title: kinds.Line(record.Agent+": "+record.Prompt, childTitleRunes),
			Cwd:   r.info.Cwd, Additional: r.info.Additional, Model: record.Model, Created: record.Queued,
		}, func(err error) { r.report(err) })
		r.own[childOf(t, callID)] = own
		return written
	}
	below := newOpenConversation(record.ID)
	r.subagents[childOf(t, callID)] = below
	r.addMissing(below, child)
	return written
}

func (r *Recorder) childEvent(t *openConversation, e transcript.ChildEvent) need {
	key := childOf(t, e.CallID)
	if own := r.own[key]; own != nil {
		r.outside = append(r.outside, func() { own.Emit(e.Event) })
		return later
	}
	below := r.subagents[key]
	if below == nil {
		return later
	}
	// The end of a subagent's turn is not a boundary, because the turn of its parent goes on.
	return min(r.fold(below, e.Event), r.mostOf(e.Event))
}

// mostOf bounds the need of an event of a subagent.
func (r *Recorder) mostOf(e transcript.Event) need {
	switch e.(type) {
	case transcript.UserSaid, transcript.AgentSaid:
		return written
	}
	return synced
}

// addChild queues the record of a subagent; its conversation has lines of its own. in is the
// subagent that made the call, "" for the session itself.
func (r *Recorder) addChild(in, callID string, record transcript.ChildRecord) {
	r.addEndedChild(in, callID, record, kinds.Card{})
}

// addEndedChild is addChild with the card that the end of the subagent left.
func (r *Recorder) addEndedChild(in, callID string, record transcript.ChildRecord, end kinds.Card) {
	form := childForm{In: in, Call: callID, Record: record}
	if len(end.Content) > 0 || end.Title != "" {
		data, err := transcript.EncodePart(&transcript.ToolPart{Card: end})
		if err != nil {
			r.refused = err
			return
		}
		form.End = data
	}
	r.addValue(line{kind: sessionKind, sub: record.ID, op: opChild}, form, nil)
}

// finishChild stores the end of a subagent. It stores what is missing of its conversation, because not
// all of its events were emitted.
func (r *Recorder) finishChild(t *openConversation, e transcript.ChildFinished) need {
	callID, child := e.CallID, e.Child
	if child == nil || checkID(child.Brief().ID) != nil {
		return later
	}
	key := childOf(t, callID)
	if own := r.own[key]; own != nil {
		delete(r.own, key)
		r.outside = append(r.outside, func() { _ = own.Close() }) // it reports its faults itself
	}
	if below := r.subagents[key]; below != nil {
		r.addMissing(below, child)
		delete(r.subagents, key)
	}
	r.addEndedChild(t.sub, callID, child.Brief(), e.Card)
	return syncStarted
}

// addMissing queues messages that are finished and not stored, or stored unfinished.
func (r *Recorder) addMissing(t *openConversation, child *transcript.Child) {
	for _, m := range child.Messages() {
		if !m.Finished || t.stored[m.ID] && t.open[m.ID] == nil {
			continue
		}
		delete(t.open, m.ID)
		r.addMessage(t, m)
	}
}

// addMessage queues a message and all its parts, subagents included.
func (r *Recorder) addMessage(t *openConversation, m *transcript.Message) {
	r.addHead(t, m)
	for i, part := range m.Parts {
		r.addPart(line{sub: t.sub, of: m.ID, role: roleField(m.Role), n: i}, part)
		if call, ok := part.(*transcript.ToolPart); ok && call.Child != nil {
			r.addSubagent(t.sub, call.CallID, call.Child)
		}
	}
}

// addSubagent queues a subagent with its conversation.
func (r *Recorder) addSubagent(in, callID string, child *transcript.Child) {
	record := child.Record()
	if checkID(record.ID) != nil {
		return
	}
	r.addEndedChild(in, callID, record, child.End())
	below := newOpenConversation(record.ID)
	for _, m := range record.Messages {
		r.addMessage(below, m)
	}
}
