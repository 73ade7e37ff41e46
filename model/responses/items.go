package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// imageTypes are the media types of images that the API takes
// (developers.openai.com/api/docs/guides/images-vision, Image input requirements).
var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// maxID is the longest id of an item or a call ("Expected a string with maximum length 64":
// github.com/decolua/9router/issues/393, github.com/AnswerDotAI/fastllm/issues/45).
const maxID = 64

// appendItems writes a message as items, each with a comma after it. A message that says
// nothing is written as nothing.
func (s *style) appendItems(b []byte, m *transcript.Message, stale bool) []byte {
	switch {
	case m.Role != transcript.Assistant:
		return s.appendUser(b, m.Parts)
	case m.Synthetic:
		return s.appendUser(b, []transcript.Part{&transcript.TextPart{Text: model.Note(m)}})
	}
	b = s.appendAnswer(b, m, stale)
	return s.appendOutputs(b, m)
}

func (s *style) appendUser(b []byte, parts []transcript.Part) []byte {
	content := s.appendContent(nil, parts)
	if len(content) == 0 {
		return b
	}
	b = append(b, `{"type":"message","role":"user","content":[`...)
	b = append(b, content...)
	return append(b, `]},`...)
}

// appendContent writes texts and images, with commas between them.
func (s *style) appendContent(b []byte, parts []transcript.Part) []byte {
	for _, piece := range wire.UserContent(parts, s.images) {
		switch {
		case piece.Image == nil:
			b = appendText(b, piece.Text)
		case slices.Contains(imageTypes, piece.Image.MediaType):
			b = append(wire.AppendComma(b), `{"type":"input_image","detail":"auto","image_url":`...)
			b = wire.AppendString(b, "data:"+piece.Image.MediaType+";base64,"+piece.Image.Data)
			b = append(b, '}')
		default:
			b = appendText(b, "[image omitted: this server does not take "+piece.Image.MediaType+"]")
		}
	}
	return b
}

func appendText(b []byte, text string) []byte {
	b = append(wire.AppendComma(b), `{"type":"input_text","text":`...)
	b = wire.AppendString(b, text)
	return append(b, '}')
}

// appendAnswer writes what a model said, thought and called, in the order in which it came.
func (s *style) appendAnswer(b []byte, m *transcript.Message, stale bool) []byte {
	list := s.pieces(m, stale)
	ids := leaveOutReasoning(list) && m.Origin == s.origin && !stale
	for _, one := range list {
		b = one.append(b, ids)
	}
	return b
}

// appendOutputs writes a result for each call, whatever became of it: a call without one
// would have the request refused. Where the server takes no images in results, they follow
// in a message.
func (s *style) appendOutputs(b []byte, m *transcript.Message) []byte {
	var after []transcript.Part
	for _, call := range m.Calls() {
		text := wire.ResultText(call, s.images)
		b = append(b, `{"type":"function_call_output","call_id":`...)
		b = wire.AppendString(b, s.callID(m, call))
		b = append(b, `,"output":`...)
		if len(call.Images) == 0 || !s.images || !s.rich {
			b = wire.AppendString(b, text)
		} else {
			parts := []transcript.Part{&transcript.TextPart{Text: text}}
			for i := range call.Images {
				parts = append(parts, &call.Images[i])
			}
			b = append(b, '[')
			b = append(b, s.appendContent(nil, parts)...)
			b = append(b, ']')
		}
		b = append(b, `},`...)
		for i := range call.Images {
			if s.images && !s.rich {
				label := fmt.Sprintf("Image %d from the result of %s (%s):", i+1, call.Name, s.callID(m, call))
				after = append(after, &transcript.TextPart{Text: label}, &call.Images[i])
			}
		}
	}
	return s.appendUser(b, after)
}

// callID is the id of a call: the one that the server gave it, if it did.
func (s *style) callID(m *transcript.Message, call *transcript.ToolPart) string {
	id := call.CallID
	if m.Origin == s.origin {
		if mark, ok := markOf(call.Replay); ok && mark.CallID != "" {
			id = mark.CallID
		}
	}
	switch {
	case id == "":
		return "call"
	case len(id) > maxID:
		sum := sha256.Sum256([]byte(id))
		return "call_" + hex.EncodeToString(sum[:16])
	}
	return strings.ToValidUTF8(id, "_")
}
