package anthropic

import (
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// cacheMark ends a block that is the end of a cached prefix. A request may have four of
// them (platform.claude.com/docs/en/build-with-claude/prompt-caching): ours are after the
// tools, after the system text and after the last two messages of the user. The one before the
// last is where the last request ended, so that it is found however many blocks came since:
// the server looks back by 20 at most.
const cacheMark = `,"cache_control":{"type":"ephemeral"}}`

// carryOn stands where a conversation would end with an answer, which models since Claude
// 4.6 refuse (platform.claude.com/docs/en/api/errors, Prefill not supported).
const carryOn = model.NoteLabel + "\nThe answer above was interrupted. Go on where it ends."

// memo is what a conversation's Request.Memo holds: the form of its finished messages. A
// message is encoded once, so that a step costs what is new in it and servers find the
// prefix of the last request in their caches (R138).
type memo struct {
	origin           string
	images, thinking bool
	messages         []*transcript.Message
	forms            [][]apiMessage               // of each
	stale            map[*transcript.Message]bool // see replayer
}

// memoOf returns the memo of a request's conversation; a new one when it has none, or one
// made for another model or another way of thinking.
func memoOf(req *model.Request, r *replayer) *memo {
	fresh := &memo{origin: r.origin, images: r.images, thinking: r.thinking, stale: r.stale}
	if req.Memo == nil {
		return fresh
	}
	m, ok := req.Memo.Value.(*memo)
	if !ok || m.origin != r.origin || m.images != r.images || m.thinking != r.thinking {
		m = fresh
		req.Memo.Value = m
	}
	return m
}

// all returns the messages in the form of the API, neighbours of one role as one: the API wants
// the roles to alternate.
func (m *memo) all(messages []*transcript.Message, r *replayer) []apiMessage {
	same := 0
	for same < min(len(messages), len(m.messages)) && messages[same] == m.messages[same] {
		same++
	}
	m.messages, m.forms = m.messages[:same], m.forms[:same]
	var list []apiMessage
	add := func(form []apiMessage) {
		for _, t := range form {
			if last := len(list) - 1; last >= 0 && list[last].user == t.user {
				joined := append(wire.AppendComma(append([]byte(nil), list[last].blocks...)), t.blocks...)
				list[last].blocks = joined
				continue
			}
			list = append(list, t)
		}
	}
	for i, message := range messages {
		if i < same {
			add(m.forms[i])
			continue
		}
		form := r.messages(message)
		if message.Finished && i == len(m.messages) {
			m.messages, m.forms = append(m.messages, message), append(m.forms, form)
		}
		add(form)
	}
	return list
}

// body writes the request of one step.
func (p *Provider) body(req *model.Request, params []wire.Param, r *replayer) string {
	messages := memoOf(req, r).all(req.Messages, r)
	if len(messages) == 0 || !messages[len(messages)-1].user {
		messages = append(messages, apiMessage{true, appendText(nil, carryOn)})
	}
	if !messages[0].user { // the first message must be the user's
		messages = append([]apiMessage{{true, appendText(nil, model.NoteLabel+"\nThe conversation begins with an answer.")}}, messages...)
	}
	marks := p.marks(req.Model)
	var b strings.Builder
	head := append([]byte(`{"model":`), wire.AppendString(nil, req.Model)...)
	head = append(head, `,"stream":true`...)
	head = wire.AppendParams(head, params)
	head = p.appendTools(head, req.Tools, marks)
	if strings.TrimSpace(req.System) != "" {
		head = append(head, `,"system":[`...)
		head = appendMarked(head, appendText(nil, req.System), marks)
		head = append(head, ']')
	}
	b.Write(head)
	b.WriteString(`,"messages":[`)
	left := 0 // messages of the user from here on
	for _, t := range messages {
		if t.user {
			left++
		}
	}
	for i, t := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(roleOf(t))
		if t.user && left <= 2 && marks {
			b.Write(t.blocks[:len(t.blocks)-1])
			b.WriteString(cacheMark)
		} else {
			b.Write(t.blocks)
		}
		if t.user {
			left--
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`]}`)
	return b.String()
}

func roleOf(t apiMessage) string {
	if t.user {
		return `{"role":"user","content":[`
	}
	return `{"role":"assistant","content":[`
}

// marks reports whether a server takes marks of cached prefixes for a model.
func (p *Provider) marks(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dropped[refused{id, "cache_control"}]
}

// appendMarked writes a block, which ends a cached prefix.
func appendMarked(b, block []byte, marked bool) []byte {
	if !marked {
		return append(b, block...)
	}
	return append(append(b, block[:len(block)-1]...), cacheMark...)
}

// appendTools writes the tools member, or nothing when there are none.
func (p *Provider) appendTools(b []byte, tools []model.Tool, marks bool) []byte {
	if len(tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i, tool := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		one := append([]byte(`{"name":`), wire.AppendString(nil, tool.Name)...)
		one = append(one, `,"description":`...)
		one = wire.AppendString(one, tool.Description)
		one = append(one, `,"input_schema":`...)
		one = wire.AppendSchema(one, tool.Parameters)
		one = append(one, '}')
		b = appendMarked(b, one, marks && i == len(tools)-1)
	}
	return append(b, ']')
}
