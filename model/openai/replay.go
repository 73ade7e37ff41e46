package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// replay is what a part of reasoning or a call keeps of the members in which a server sent
// more than text; as JSON it is the Replay of the part.
type replay struct {
	// Details are OpenRouter's blocks, of the whole message and in order.
	Details json.RawMessage `json:"reasoning_details,omitempty"`
	// Extra holds Gemini's signature, of a call or of the message.
	Extra json.RawMessage `json:"extra_content,omitempty"`
	// Tags are what stood before and after a reasoning in tags, to the last newline.
	Tags []string `json:"tags,omitempty"`
}

func (r replay) json() json.RawMessage {
	var b bytes.Buffer // compact and not escaped, so that it is the same when it was stored
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(r) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// present is a raw member, or nil when it says nothing.
func present(raw json.RawMessage) json.RawMessage {
	switch string(raw) {
	case "", "null", "{}", "[]":
		return nil
	}
	return raw
}

// signed is an extra_content that has a signature; Gemini marks thoughts with others.
func signed(extra json.RawMessage) json.RawMessage {
	if len(extra) == 0 {
		return nil
	}
	var e struct {
		Google struct {
			Signature string `json:"thought_signature"`
		} `json:"google"`
	}
	if json.Unmarshal(extra, &e) != nil || e.Google.Signature == "" {
		return nil
	}
	return extra
}

// standInExtra is what Google documents for calls that another model made, or that have
// lost their signature.
const standInExtra = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// thoughts are what a message has of its own reasoning for the server it came from.
type thoughts struct {
	in   field
	text string
	replay
}

// thoughtsOf collects them; they are none when another wrote the message.
func (e *encoder) thoughtsOf(m *transcript.Message) thoughts {
	in, own := wroteIn(m, e.origin)
	if !own {
		return thoughts{}
	}
	t := thoughts{in: in}
	var texts []string
	for _, part := range m.Parts {
		part, ok := part.(*transcript.ReasoningPart)
		if !ok {
			continue
		}
		texts = append(texts, part.Text)
		if len(part.Replay) == 0 {
			continue
		}
		var r replay
		if json.Unmarshal(part.Replay, &r) != nil {
			continue // of a later version
		}
		if r.Details != nil {
			t.Details = r.Details
		}
		if r.Extra != nil {
			t.Extra = r.Extra
		}
		if len(r.Tags) == 2 {
			t.Tags = r.Tags
		}
	}
	t.text = strings.Join(texts, "") // of one, as it is most often, without a copy
	return t
}

// appendContent writes the value of a message's content, with the reasoning that stands in it.
func (e *encoder) appendContent(b []byte, text string, t thoughts) []byte {
	switch {
	case t.in == inTags && t.Tags != nil && e.inTurn && e.admits(inTags):
		return wire.AppendString(b, t.Tags[0]+t.text+t.Tags[1]+text)
	case t.in == inChunks && t.text != "" && e.admits(inChunks):
		b = append(b, `[{"type":"thinking","thinking":[{"type":"text","text":`...)
		b = append(wire.AppendString(b, t.text), `}]}`...)
		if text != "" {
			b = append(b, `,{"type":"text","text":`...)
			b = append(wire.AppendString(b, text), '}')
		}
		return append(b, ']')
	case text == "":
		return append(b, "null"...)
	}
	return wire.AppendString(b, text)
}

// appendReasoning writes the members for reasoning that stand next to a message's content.
func (e *encoder) appendReasoning(b []byte, t thoughts) []byte {
	given := false
	if t.in&textFields != 0 && t.text != "" && e.admits(t.in) {
		given = true
		b = append(b, `,"`+t.in.origin()+`":`...)
		b = wire.AppendString(b, t.text)
	}
	if t.Details != nil && e.admits(inDetails) {
		given = true
		b = append(append(b, `,"reasoning_details":`...), t.Details...)
	}
	if !given && e.fill != fillNone && e.admits(inReasoningContent) {
		b = append(b, `,"reasoning_content":`+e.fill.text()...)
	}
	if t.Extra != nil && e.admits(inExtra) {
		b = append(append(b, `,"extra_content":`...), t.Extra...)
	}
	return b
}

// extraOf are the extra_contents of a message's calls. Of calls made side by side the
// first has the signature for all.
func (e *encoder) extraOf(m *transcript.Message, calls []*transcript.ToolPart) []json.RawMessage {
	extras := make([]json.RawMessage, len(calls))
	_, own := wroteIn(m, e.origin)
	some := false
	for i, call := range calls {
		var r replay
		if own && len(call.Replay) > 0 && json.Unmarshal(call.Replay, &r) == nil && r.Extra != nil && e.admits(inExtra) {
			extras[i], some = r.Extra, true
		}
	}
	if !some && e.standIn && len(calls) > 0 {
		e.sent |= inExtra
		extras[0] = json.RawMessage(standInExtra)
	}
	return extras
}

// admits reports whether the server takes a field, and notes that it is sent: the caller writes it.
func (e *encoder) admits(f field) bool {
	if e.refused&f != 0 {
		return false
	}
	e.sent |= f
	return true
}
