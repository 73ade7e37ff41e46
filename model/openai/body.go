package openai

import (
	"math"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// memo is what a conversation's Request.Memo holds: the JSON of its finished
// messages and of its tools. A message is encoded once, so a step costs what is
// new in it, and its bytes do not change, so that servers find the prefix of the
// last request in their caches (R138). The bytes change with another model or server and
// with a rule that was learned. Those of messages with reasoning in tags also change once a new
// turn starts (see encoder.inTurn).
type memo struct {
	style
	messages []*transcript.Message
	texts    []string // the JSON of each
	sent     field    // what is in texts
	turn     int      // the first message of the turn for which texts were made
	volatile int      // the first message whose text depends on the turn, or noMessage

	tools     []model.Tool
	toolsText string
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
	// inTurn says that the message belongs to the turn that is going on. Reasoning in
	// tags is kept for that long: the templates of MiniMax M2 and Qwen3 keep it so, and
	// that of DeepSeek R1 takes it out itself.
	inTurn bool
	// sent are the fields of reasoning that were written.
	sent field
}

// memoOf returns the memo of a request's conversation; a new one when it has
// none, or one made by another provider or in another style.
func memoOf(req *model.Request, style style) *memo {
	if req.Memo == nil {
		return &memo{style: style, volatile: noMessage}
	}
	m, ok := req.Memo.Value.(*memo)
	if !ok || m.style != style {
		m = &memo{style: style, volatile: noMessage}
		req.Memo.Value = m
	}
	return m
}

// noMessage is beyond all messages.
const noMessage = math.MaxInt

// turnOf is the first message of the turn that is going on: the last that the user sent.
func turnOf(messages []*transcript.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == transcript.User {
			return i
		}
	}
	return 0
}

// sync encodes new finished messages and drops the ones that a compaction
// removed. It returns the rest, which is not finished.
func (m *memo) sync(messages []*transcript.Message) []*transcript.Message {
	same, turn := 0, turnOf(messages)
	for same < min(len(messages), len(m.messages)) && messages[same] == m.messages[same] {
		same++
	}
	if turn != m.turn {
		same = min(same, m.volatile)
	}
	m.messages, m.texts, m.turn = m.messages[:same], m.texts[:same], turn
	if m.volatile >= same {
		m.volatile = noMessage
	}
	for same < len(messages) && messages[same].Finished {
		e := encoder{style: m.style, inTurn: same >= turn}
		text := e.appendMessage(make([]byte, 0, roughSize(messages[same])), messages[same])
		if m.sent |= e.sent; e.sent&inTags != 0 {
			m.volatile = min(m.volatile, same)
		}
		m.messages, m.texts = append(m.messages, messages[same]), append(m.texts, string(text))
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
func (p *Provider) body(req *model.Request, params []wire.Param, images bool) (pieces wire.Pieces, sent field) {
	m := memoOf(req, style{images, p.originOf(req.Model), p.rulesOf(req.Model)})
	if m.tools == nil || !sameTools(m.tools, req.Tools) {
		m.tools, m.toolsText = append([]model.Tool{}, req.Tools...), string(appendTools(nil, req.Tools))
	}
	fresh := m.sync(req.Messages)

	head := append([]byte(`{"model":`), wire.AppendString(nil, req.Model)...)
	head = wire.AppendParams(append(head, `,"stream":true`...), params)
	system := []byte{}
	if req.System != "" {
		system = append(make([]byte, 0, len(req.System)+len(req.System)/8+64), `,{"role":"system","content":`...)
		system = append(wire.AppendString(system, req.System), '}')
	}
	var rest []byte
	e := encoder{style: m.style, inTurn: true, sent: m.sent}
	for _, message := range fresh {
		rest = e.appendMessage(rest, message)
	}
	pieces = make(wire.Pieces, 0, len(m.texts)+6)
	pieces = append(pieces, string(head), m.toolsText, `,"messages":[`)
	first := len(pieces)
	pieces = append(append(append(pieces, string(system)), m.texts...), string(rest))
	// Each message brings a comma; the first must not.
	for i := first; i < len(pieces); i++ {
		if pieces[i] != "" {
			pieces[i] = pieces[i][1:]
			break
		}
	}
	return append(pieces, `]}`), e.sent
}
