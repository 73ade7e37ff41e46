package openai

import (
	"slices"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// memo is what a conversation's Request.Memo holds: the JSON of its finished
// messages and of its tools. A message is encoded once, so a step costs what is
// new in it, and its bytes never change, so that servers find the prefix of the
// last request in their caches (R138).
type memo struct {
	images   bool
	messages []*transcript.Message
	ends     []int // ends[i] is where messages[i] ends in text
	text     []byte

	tools     []model.Tool
	toolsText []byte
}

// memoOf returns the memo of a request's conversation; a new one when it has
// none, or one made by another provider or for a model with other senses.
func memoOf(req *model.Request, images bool) *memo {
	if req.Memo == nil {
		return &memo{images: images}
	}
	m, ok := req.Memo.Value.(*memo)
	if !ok || m.images != images {
		m = &memo{images: images}
		req.Memo.Value = m
	}
	return m
}

// sync encodes the finished messages that are new and forgets those that are
// gone (compaction). It returns the rest, which is not finished.
func (m *memo) sync(messages []*transcript.Message) []*transcript.Message {
	same := 0
	for same < min(len(messages), len(m.messages)) && messages[same] == m.messages[same] {
		same++
	}
	m.messages, m.ends = m.messages[:same], m.ends[:same]
	if same == 0 {
		m.text = m.text[:0]
	} else {
		m.text = m.text[:m.ends[same-1]]
	}
	for same < len(messages) && messages[same].Finished {
		m.text = slices.Grow(m.text, roughSize(messages[same])) // a large answer is not copied again and again
		m.text = appendMessage(m.text, messages[same], m.images)
		m.messages = append(m.messages, messages[same])
		m.ends = append(m.ends, len(m.text))
		same++
	}
	return messages[same:]
}

// roughSize is about what the JSON of a message takes.
func roughSize(m *transcript.Message) int {
	size := 0
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			size += len(part.Text)
		case *transcript.ToolPart:
			size += len(part.Input) + len(part.Text)
		}
	}
	return size + size/16
}

// body writes the request of one step.
func (p *Provider) body(req *model.Request, params []wire.Param, images bool) string {
	m := memoOf(req, images)
	if m.toolsText == nil || !sameTools(m.tools, req.Tools) {
		m.tools, m.toolsText = append([]model.Tool(nil), req.Tools...), appendTools([]byte{}, req.Tools)
	}
	fresh := m.sync(req.Messages)

	b := make([]byte, 0, len(m.toolsText)+len(req.System)+len(req.System)/8+1024)
	b = append(b, `{"model":`...)
	b = wire.AppendString(b, req.Model)
	b = append(b, `,"stream":true`...)
	b = wire.AppendParams(b, params)
	b = append(b, m.toolsText...)
	b = append(b, `,"messages":[`...)
	start := len(b)
	if req.System != "" {
		b = append(b, `,{"role":"system","content":`...)
		b = wire.AppendString(b, req.System)
		b = append(b, '}')
	}
	var rest []byte
	for _, message := range fresh {
		rest = appendMessage(rest, message, m.images)
	}
	// Each message brings a comma; the first must not.
	parts := [][]byte{b[start:], m.text, rest}
	for i, part := range parts {
		if len(part) > 0 {
			parts[i] = part[1:]
			break
		}
	}
	var text strings.Builder // of a whole conversation: one copy is enough
	text.Grow(len(b) + len(m.text) + len(rest) + 2)
	text.Write(b[:start])
	for _, part := range parts {
		text.Write(part)
	}
	text.WriteString(`]}`)
	return text.String()
}
