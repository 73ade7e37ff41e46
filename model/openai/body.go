package openai

import (
	"math"
	"slices"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// memo is what a conversation's Request.Memo holds: the JSON of its finished
// messages and of its tools. A message is encoded once, so a step costs what is
// new in it, and its bytes do not change, so that servers find the prefix of the
// last request in their caches (R138). What changes them: another model or server,
// a rule that was learned, and a new prompt those of the turn before it when their
// reasoning stands in tags (see encoder.within).
type memo struct {
	style
	messages []*transcript.Message
	ends     []int // ends[i] is where messages[i] ends in text
	text     []byte
	sent     field // what is in text
	turn     int   // the first message of the turn for which text was made
	bound    int   // the first message that depends on it, beyond them when none does

	tools     []model.Tool
	toolsText []byte
}

// style is what the JSON of a message depends on besides the message.
type style struct {
	images bool
	origin string // how origins of the model's own messages begin
	rules
}

// encoder writes messages.
type encoder struct {
	style
	// within says that the message belongs to the turn that is going on. Reasoning in
	// tags is kept for that long: the templates of MiniMax M2 and Qwen3 keep it so, and
	// that of DeepSeek R1 takes it out itself.
	within bool
	// sent are the fields of reasoning that were written.
	sent field
}

// memoOf returns the memo of a request's conversation; a new one when it has
// none, or one made by another provider or in another style.
func memoOf(req *model.Request, style style) *memo {
	if req.Memo == nil {
		return &memo{style: style, bound: unbound}
	}
	m, ok := req.Memo.Value.(*memo)
	if !ok || m.style != style {
		m = &memo{style: style, bound: unbound}
		req.Memo.Value = m
	}
	return m
}

// unbound is beyond all messages.
const unbound = math.MaxInt

// turnOf is the first message of the turn that is going on: the last that the user sent.
func turnOf(messages []*transcript.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == transcript.User {
			return i
		}
	}
	return 0
}

// sync encodes the finished messages that are new and forgets those that are
// gone (compaction). It returns the rest, which is not finished.
func (m *memo) sync(messages []*transcript.Message) []*transcript.Message {
	same, turn := 0, turnOf(messages)
	for same < min(len(messages), len(m.messages)) && messages[same] == m.messages[same] {
		same++
	}
	if turn != m.turn {
		same = min(same, m.bound)
	}
	m.messages, m.ends, m.turn = m.messages[:same], m.ends[:same], turn
	if m.bound >= same {
		m.bound = unbound
	}
	if same == 0 {
		m.text = m.text[:0]
	} else {
		m.text = m.text[:m.ends[same-1]]
	}
	for same < len(messages) && messages[same].Finished {
		m.text = slices.Grow(m.text, roughSize(messages[same])) // a large answer is not copied again and again
		e := encoder{style: m.style, within: same >= turn}
		m.text = e.appendMessage(m.text, messages[same])
		if m.sent |= e.sent; e.sent&inTags != 0 {
			m.bound = min(m.bound, same)
		}
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
		case *transcript.ReasoningPart:
			size += max(len(part.Text), len(part.Replay))
		case *transcript.ToolPart:
			size += len(part.Input) + len(part.Text) + len(part.Replay)
		}
	}
	return size + size/16
}

// body writes the request of one step. sent are the fields of reasoning in it.
func (p *Provider) body(req *model.Request, params []wire.Param, images bool) (text string, sent field) {
	m := memoOf(req, style{images, p.originOf(req.Model), p.rulesOf(req.Model)})
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
	e := encoder{style: m.style, within: true, sent: m.sent}
	for _, message := range fresh {
		rest = e.appendMessage(rest, message)
	}
	// Each message brings a comma; the first must not.
	parts := [][]byte{b[start:], m.text, rest}
	for i, part := range parts {
		if len(part) > 0 {
			parts[i] = part[1:]
			break
		}
	}
	var whole strings.Builder // of a whole conversation: one copy is enough
	whole.Grow(len(b) + len(m.text) + len(rest) + 2)
	whole.Write(b[:start])
	for _, part := range parts {
		whole.Write(part)
	}
	whole.WriteString(`]}`)
	return whole.String(), e.sent
}
