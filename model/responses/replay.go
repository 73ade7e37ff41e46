package responses

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// mark is what is kept of an item whose contents are in the transcript: its ids, and the
// phase of a message ("preserve and resend phase on all assistant messages — dropping it can
// degrade performance": ResponseOutputMessage of the official SDK). After the text of a
// message it is the Replay of a block of reasoning without text; of a call it is the Replay
// of the call. It is there when the item came to its end.
type mark struct {
	Type   string `json:"type"`
	ID     string `json:"id,omitempty"`
	Phase  string `json:"phase,omitempty"`
	CallID string `json:"call_id,omitempty"`
}

func (m mark) json() json.RawMessage {
	var b bytes.Buffer // not escaped, so that it is the same when it was stored
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(m) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func markOf(replay json.RawMessage) (mark, bool) {
	var m mark
	return m, len(replay) > 0 && json.Unmarshal(replay, &m) == nil
}

// The types of items that a model writes and that go back.
const (
	messageItem   = "message"
	reasoningItem = "reasoning"
	callItem      = "function_call"
)

// piece is an item of an answer before it is written.
type piece struct {
	mark
	// whole says that the item came to its end, and is the server's own.
	whole bool
	// raw is an item that goes back as it came.
	raw             json.RawMessage
	text            string
	name, arguments string
	leftOut         bool
}

// pieces are the items of an answer. Items that the server did not write, or that it would
// not take back, have no raw form; stale says that it takes no reasoning back.
func (s *style) pieces(m *transcript.Message, stale bool) []piece {
	own := m.Origin == s.origin
	var list []piece
	var text strings.Builder
	spoken := false
	flush := func(mk mark, whole bool) {
		t := text.String()
		if spoken {
			t = strings.TrimPrefix(t, apart)
		}
		if strings.TrimSpace(t) != "" {
			list = append(list, piece{mark: mark{Type: messageItem, ID: mk.ID, Phase: mk.Phase}, whole: whole, text: t})
			spoken = true
		}
		text.Reset()
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			text.WriteString(part.Text)
		case *transcript.ReasoningPart:
			mk, ok := markOf(part.Replay)
			switch {
			case !own || !ok:
			case mk.Type == messageItem:
				flush(mk, true)
			default:
				flush(mark{}, false)
				list = append(list, piece{mark: mk, raw: part.Replay, whole: true, leftOut: stale || !s.returnable(mk.Type, part.Replay)})
			}
		case *transcript.ToolPart:
			flush(mark{}, false)
			mk, ok := markOf(part.Replay)
			list = append(list, piece{
				mark: mark{Type: callItem, ID: mk.ID, CallID: s.callID(m, part)}, whole: own && ok,
				name: wire.ToolName(part.Name), arguments: wire.SentArguments(part.Input),
			})
		}
	}
	flush(mark{}, false)
	return list
}

// returnable reports whether the server takes an item back. OpenAI looks for reasoning
// without encrypted content among what it stored ("Item with id 'rs_…' not found. Items are
// not persisted when `store` is set to false.": github.com/anomalyco/opencode/issues/7724,
// can1357/oh-my-pi/issues/41); others take its text (github.com/vllm-project/vllm/pull/28248).
func (s *style) returnable(kind string, raw json.RawMessage) bool {
	if kind != reasoningItem {
		return json.Valid(raw)
	}
	var r struct {
		Encrypted string            `json:"encrypted_content"`
		Content   []json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return false
	}
	return r.Encrypted != "" || len(r.Content) > 0 && !s.official
}

// leaveOutReasoning leaves out reasoning that is not followed by an item that came to its end
// ("Item 'rs_…' of type 'reasoning' was provided without its required following item.":
// github.com/vercel/ai/issues/7099, openai/openai-node/issues/1567). It reports whether the
// items may have their ids: with them the server wants each with the reasoning before it
// ("Item 'fc_…' of type 'function_call' was provided without its required 'reasoning' item":
// github.com/VRSEN/agency-swarm/issues/367), and each of the form that it takes.
func leaveOutReasoning(list []piece) (ids bool) {
	ids = true
	followed := false
	for i := len(list) - 1; i >= 0; i-- {
		one := &list[i]
		if one.Type == reasoningItem {
			one.leftOut = one.leftOut || !followed
		}
		if one.leftOut || one.ID != "" && !isItemID(one.ID) {
			ids = false
		}
		if !one.leftOut {
			followed = one.whole
		}
	}
	return ids
}

// isItemID reports whether an id is one that the API takes back ("Expected an ID that contains
// letters, numbers, underscores, or dashes": github.com/langchain-ai/langchainjs/issues/11044).
// GitHub Copilot gives out others (github.com/BerriAI/litellm/pull/30072).
func isItemID(id string) bool { return len(id) <= maxID && wire.ToolName(id) == id }

// append writes an item and a comma.
func (p *piece) append(b []byte, ids bool) []byte {
	if p.leftOut {
		return b
	}
	ids = ids && p.ID != ""
	switch {
	case p.raw != nil && (ids || p.ID == ""):
		b = append(b, p.raw...)
	case p.raw != nil:
		b = append(b, without(p.raw, "id")...)
	case p.Type == callItem:
		b = append(b, `{"type":"function_call"`...)
		if ids {
			b = append(b, `,"id":`...)
			b = wire.AppendString(b, p.ID)
		}
		b = append(b, `,"call_id":`...)
		b = wire.AppendString(b, p.CallID)
		b = append(b, `,"name":`...)
		b = wire.AppendString(b, p.name)
		b = append(b, `,"arguments":`...)
		b = wire.AppendString(b, p.arguments)
		b = append(b, '}')
	default:
		b = p.appendMessage(b, ids)
	}
	return append(b, ',')
}

// appendMessage writes a message with its id as the server writes it, and one without as the
// short form has it.
func (p *piece) appendMessage(b []byte, ids bool) []byte {
	b = append(b, `{"type":"message","role":"assistant"`...)
	if p.Phase != "" {
		b = append(b, `,"phase":`...)
		b = wire.AppendString(b, p.Phase)
	}
	if !ids {
		b = append(b, `,"content":`...)
		b = wire.AppendString(b, p.text)
		return append(b, '}')
	}
	b = append(b, `,"id":`...)
	b = wire.AppendString(b, p.ID)
	b = append(b, `,"status":"completed","content":[{"type":"output_text","annotations":[],"text":`...)
	b = wire.AppendString(b, p.text)
	return append(b, `}]}`...)
}

// without is a JSON object without some of its members; all else keeps its bytes and its
// order.
func without(raw json.RawMessage, names ...string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return raw
	}
	out := []byte("{")
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return raw
		}
		key, _ := name.(string)
		if slices.Contains(names, key) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(wire.AppendString(out, key), ':'), value...)
	}
	return append(out, '}')
}
