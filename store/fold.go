package store

import (
	"strings"

	"acp-agent/transcript"
)

// openConversation is the part of a conversation, of the session or of a subagent, that is still open. What
// is finished is only in the file.
type openConversation struct {
	sub    string // the subagent; "" is the session itself
	open   map[string]*openMessage
	parts  map[string]*openPart
	calls  map[string]*openCall
	stored map[string]bool // ids of the messages that were stored; nil for the session itself
}

func newOpenConversation(sub string) *openConversation {
	t := &openConversation{sub: sub, open: map[string]*openMessage{}, parts: map[string]*openPart{}, calls: map[string]*openCall{}}
	if sub != "" {
		t.stored = map[string]bool{}
	}
	return t
}

type openMessage struct {
	head  transcript.Message // without parts
	parts int
}

// openPart is a text or reasoning part that grows.
type openPart struct {
	of     string
	n      int
	part   transcript.ReasoningPart // also of text, without Replay
	kind   transcript.PartKind
	text   []string        // what is in the live file
	fresh  strings.Builder // what is not
	grown  int             // how many bytes of the text, cleaned, the live file has
	listed bool            // the live file has a line of it
}

func (p *openPart) whole() transcript.Part {
	text := strings.Join(append(p.text, p.fresh.String()), "")
	if p.kind == transcript.ReasoningKind {
		return &transcript.ReasoningPart{ID: p.part.ID, Text: text, Replay: p.part.Replay}
	}
	return &transcript.TextPart{ID: p.part.ID, Text: text}
}

type openCall struct {
	of    string
	n     int
	part  transcript.ToolPart
	input strings.Builder

	printed transcript.Printed

	ready bool // the file has the input
}

// fold folds an event into a conversation, as transcript.Log does, and queues the lines that it makes. It
// returns what has to happen to them before Emit returns.
func (r *Recorder) fold(t *openConversation, e transcript.Event) need {
	switch e := e.(type) {
	case transcript.UserSaid:
		return r.addComplete(t, e.Message)
	case transcript.AgentSaid:
		return r.addComplete(t, e.Message)
	case transcript.Compacted:
		return r.addComplete(t, e.Message)
	case transcript.Cleared:
		m := transcript.Message{ID: e.MessageID, Role: transcript.Assistant, Created: e.At, Synthetic: true, Finished: true, Clears: true}
		return r.addComplete(t, &m)
	case transcript.StepStarted:
		m := transcript.Message{ID: e.MessageID, Role: transcript.Assistant, Created: e.At, Model: e.Model, Digest: e.Digest}
		t.open[e.MessageID] = &openMessage{head: m}
		r.noteStep(t, e.Model)
		r.addHead(t, &m)
		return later
	case transcript.StepFinished:
		return r.finishStep(t, e)
	case transcript.StepDropped:
		r.drop(t, e.MessageID)
		return written
	case transcript.TurnWithdrawn:
		r.mark(t, e.MessageID, opHide, refusedData)
		return written
	case transcript.Hidden:
		r.mark(t, e.MessageID, opHide, "{}")
		return synced
	case transcript.Shown:
		r.mark(t, e.MessageID, opShow, "{}")
		return synced
	case transcript.PartStarted, transcript.PartDelta, transcript.PartReplay, transcript.PartEnded:
		return r.foldPart(t, e)
	case transcript.ChildStarted, transcript.ChildEvent, transcript.ChildFinished:
		return r.foldChild(t, e)
	}
	if needed, isCall := r.foldCall(t, e); isCall {
		return needed
	}
	if t == r.root {
		return r.foldSession(e)
	}
	return later
}

// mark queues a line about a message and the messages after it.
func (r *Recorder) mark(t *openConversation, messageID, op, data string) {
	r.add(line{kind: messageKind, sub: t.sub, of: messageID, op: op, data: []byte(data)})
}

// foldSession folds an event about the session as a whole.
func (r *Recorder) foldSession(e transcript.Event) need {
	switch e := e.(type) {
	case transcript.TurnStarted:
		r.info.Turn, r.info.Reason, r.dirty.info = e.TurnID, "", true
	case transcript.TurnFinished:
		r.info.Reason, r.dirty.info = e.Reason, true
		return synced
	case transcript.TitleChanged:
		r.info.Title, r.dirty.info = e.Title, true
	case transcript.ModeChanged:
		r.info.Mode, r.dirty.info = e.ModeID, true
	case transcript.UsageChanged:
		r.info.Used, r.info.Size, r.info.Cost = e.Used, e.Size, e.Cost
		r.dirty.info = true
	case transcript.PlanChanged, transcript.Counted, transcript.ToolsActivated, transcript.HostsNamed:
		r.memory.Apply(e)
		r.dirty.memory = true
	}
	return later
}

// addComplete stores a message that arrives as a whole.
func (r *Recorder) addComplete(t *openConversation, m *transcript.Message) need {
	if m == nil || t.stored[m.ID] {
		return later
	}
	head := *m
	head.Finished = true
	r.noteStep(t, "")
	if t == r.root && m.Role == transcript.User {
		r.info.Turns++
	}
	r.addHead(t, &head)
	for i, part := range m.Parts {
		r.addPart(line{sub: t.sub, of: m.ID, role: roleField(m.Role), n: i}, part)
	}
	r.started = true
	return syncStarted
}

func (r *Recorder) noteStep(t *openConversation, model string) {
	if t != r.root {
		return
	}
	r.started = true
	r.info.Messages++
	if model != "" {
		r.info.Model = model
	}
	r.dirty.info = true
}

// addHead queues a message without its parts.
func (r *Recorder) addHead(t *openConversation, m *transcript.Message) {
	if t.stored != nil {
		t.stored[m.ID] = true
	}
	r.addValue(line{kind: messageKind, sub: t.sub, of: m.ID, role: roleField(m.Role)}, m, nil)
}

// roleField is the role in a line, which omits that of the assistant.
func roleField(role transcript.Role) string {
	if role == transcript.Assistant {
		return ""
	}
	return string(role)
}

func (r *Recorder) finishStep(t *openConversation, e transcript.StepFinished) need {
	m := t.open[e.MessageID]
	if m == nil {
		return later
	}
	m.head.Usage, m.head.Origin, m.head.Finished = e.Usage, e.Origin, len(t.calls) == 0
	if e.Usage != nil && t == r.root {
		r.info.Usage = r.info.Usage.Add(*e.Usage)
		r.dirty.info = true
	}
	r.addHead(t, &m.head)
	r.forget(t, e.MessageID)
	return written
}

// forget drops a message that is finished and has no open part.
func (r *Recorder) forget(t *openConversation, id string) {
	m := t.open[id]
	if m == nil || !m.head.Finished {
		return
	}
	for _, p := range t.parts {
		if p.of == id {
			return
		}
	}
	delete(t.open, id)
}

func (r *Recorder) drop(t *openConversation, id string) {
	r.add(line{kind: messageKind, sub: t.sub, of: id, op: opDrop, data: []byte("{}")})
	delete(t.open, id)
	for key, p := range t.parts {
		if p.of == id {
			delete(t.parts, key)
		}
	}
}

func (r *Recorder) foldPart(t *openConversation, e transcript.Event) need {
	switch e := e.(type) {
	case transcript.PartStarted:
		if m := t.open[e.MessageID]; m != nil {
			t.parts[e.PartID] = &openPart{of: e.MessageID, n: m.parts, kind: e.Kind, part: transcript.ReasoningPart{ID: e.PartID}}
			m.parts++
		}
	case transcript.PartDelta:
		if p := t.parts[e.PartID]; p != nil {
			p.fresh.WriteString(e.Text)
			r.live.waiting += len(e.Text)
		}
	case transcript.PartReplay:
		if p := t.parts[e.PartID]; p != nil && p.kind == transcript.ReasoningKind {
			p.part.Replay = e.Data
		}
	case transcript.PartEnded:
		if p := t.parts[e.PartID]; p != nil {
			r.addPart(line{sub: t.sub, of: p.of, n: p.n}, p.whole())
			delete(t.parts, e.PartID)
			r.forget(t, p.of)
		}
	}
	return later
}
