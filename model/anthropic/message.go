package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// apiMessage is a message as the API has it: content blocks of one role, with commas between them.
type apiMessage struct {
	user   bool
	blocks []byte
}

// imageTypes are the media types of images that the API takes (Base64ImageSource of the
// official SDK).
var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// messages writes a message. An answer with calls becomes two: the results of all its calls
// are one user message, directly after it, and come first in it
// (platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls).
func (r *replayer) messages(m *transcript.Message) []apiMessage {
	if m.Role != transcript.Assistant {
		return r.user(m.Parts)
	}
	if m.Synthetic {
		return r.user([]transcript.Part{&transcript.TextPart{Text: model.Note(m)}})
	}
	blocks := r.answer(m)
	if blocks == nil {
		return nil
	}
	list := []apiMessage{{blocks: blocks}}
	if calls := m.Calls(); len(calls) > 0 {
		list = append(list, apiMessage{true, r.results(calls)})
	}
	return list
}

func (r *replayer) user(parts []transcript.Part) []apiMessage {
	blocks := r.appendContent(nil, parts)
	if len(blocks) == 0 {
		return nil
	}
	return []apiMessage{{true, blocks}}
}

// appendContent writes texts and images. Empty texts are left out: the API refuses them.
func (r *replayer) appendContent(b []byte, parts []transcript.Part) []byte {
	for _, piece := range wire.UserContent(parts, r.images) {
		switch {
		case piece.Image == nil:
			b = appendText(b, piece.Text)
		case slices.Contains(imageTypes, piece.Image.MediaType):
			b = appendImage(b, piece.Image)
		default:
			b = appendText(b, "[image omitted: this server does not take "+piece.Image.MediaType+"]")
		}
	}
	return b
}

// answer writes the blocks of an answer in the order in which they came: blocks of thinking
// stay before the calls that they led to. An answer that is thinking and nothing else says
// nothing and is left out.
func (r *replayer) answer(m *transcript.Message) []byte {
	var b []byte
	says := false
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *transcript.ReasoningPart:
			if block := r.block(m, part); block != nil {
				b = append(wire.AppendComma(b), block...)
			}
		case *transcript.TextPart:
			if strings.TrimSpace(part.Text) != "" {
				b, says = appendText(b, part.Text), true
			}
		case *transcript.ToolPart:
			b, says = appendCall(b, part), true
		}
	}
	if !says {
		return nil
	}
	return b
}

// appendCall writes a call. Its input is an object always, also where the model wrote
// something else.
func appendCall(b []byte, call *transcript.ToolPart) []byte {
	b = append(wire.AppendComma(b), `{"type":"tool_use","id":`...)
	b = wire.AppendString(b, callID(call.CallID))
	b = append(b, `,"name":`...)
	b = wire.AppendString(b, wire.ToolName(call.Name))
	b = append(b, `,"input":`...)
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(wire.SentArguments(call.Input))) != nil {
		compact.WriteString("{}")
	}
	b = append(b, compact.Bytes()...)
	return append(b, '}')
}

// callID makes an id of the form ^[a-zA-Z0-9_-]+$, which the API demands ("String should
// match pattern": github.com/HKUDS/nanobot/pull/4356).
func callID(id string) string {
	if id == "" {
		return "call"
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
}

// results writes one block for each call, whatever became of it: a call without a result
// would have the request refused. An error has no images in it ("all content must be type
// `text` if `is_error` is true": github.com/vellum-ai/vellum-assistant/pull/18387); they
// follow the results.
func (r *replayer) results(calls []*transcript.ToolPart) []byte {
	var b []byte
	var after []transcript.Part
	for _, call := range calls {
		failed := call.State.Terminal() && call.State != transcript.Done
		images := call.Images
		if failed {
			for i := range images {
				after = append(after, &transcript.TextPart{Text: "Image of the failed call " + call.Name + ":"}, &images[i])
			}
			images = nil
		}
		b = append(wire.AppendComma(b), `{"type":"tool_result","tool_use_id":`...)
		b = wire.AppendString(b, callID(call.CallID))
		if failed {
			b = append(b, `,"is_error":true`...)
		}
		b = append(b, `,"content":[`...)
		content := []transcript.Part{&transcript.TextPart{Text: wire.ResultText(call, r.images)}}
		for i := range images {
			if r.images {
				content = append(content, &images[i])
			}
		}
		b = append(b, r.appendContent(nil, content)...)
		b = append(b, `]}`...)
	}
	return r.appendContent(b, after)
}

func appendText(b []byte, text string) []byte {
	b = append(wire.AppendComma(b), `{"type":"text","text":`...)
	b = wire.AppendString(b, text)
	return append(b, '}')
}

func appendImage(b []byte, image *transcript.ImagePart) []byte {
	b = append(wire.AppendComma(b), `{"type":"image","source":{"type":"base64","media_type":`...)
	b = wire.AppendString(b, image.MediaType)
	b = append(b, `,"data":`...)
	b = wire.AppendString(b, image.Data)
	return append(b, `}}`...)
}
