package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"acp-agent/model"
	"acp-agent/transcript"
)

// What stands in the history where something is missing.
const (
	interruptedResult = "This call was interrupted; it has no result, and its effects are unknown."
	emptyResult       = "(no output)"
	omittedImage      = "[image omitted: this model takes no images]"
)

// appendMessage writes the Chat Completions messages of m, each behind a comma.
// A message that says nothing is written as nothing.
func (e *encoder) appendMessage(b []byte, m *transcript.Message) []byte {
	switch {
	case m.Role != transcript.Assistant:
		return appendUser(b, userContent(m.Parts, e.images))
	case m.Synthetic:
		return appendUser(b, userContent([]transcript.Part{&transcript.TextPart{Text: model.Note(m)}}, e.images))
	}
	return e.appendAssistant(b, m)
}

func appendUser(b []byte, content []piece) []byte {
	if len(content) == 0 {
		return b
	}
	b = append(b, `,{"role":"user","content":`...)
	if len(content) == 1 && content[0].image == nil {
		b = appendString(b, content[0].text)
		return append(b, '}')
	}
	for i, c := range content {
		b = append(b, "[,"[min(i, 1)])
		if c.image == nil {
			b = append(b, `{"type":"text","text":`...)
			b = appendString(b, c.text)
			b = append(b, '}')
			continue
		}
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = appendString(b, "data:"+c.image.MediaType+";base64,"+c.image.Data)
		b = append(b, `}}`...)
	}
	return append(b, `]}`...)
}

// piece is a text or an image of a user message.
type piece struct {
	text  string
	image *transcript.ImagePart
}

// userContent joins the texts between images, so that a sentence with a mention
// in it stays one. Two texts with nothing between them are two messages of the user, such as
// one that was cancelled and is sent again with the next.
func userContent(parts []transcript.Part, images bool) []piece {
	var pieces []piece
	var text strings.Builder
	flush := func() {
		if strings.TrimSpace(text.String()) != "" {
			pieces = append(pieces, piece{text: text.String()})
		}
		text.Reset()
	}
	apart := false // the text so far must not run into what follows
	write := func(s string, block bool) {
		if text.Len() > 0 && (block || apart) {
			text.WriteString("\n\n")
		}
		text.WriteString(s)
		apart = block
	}
	for i, part := range parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			if !part.Replaced {
				write(part.Text, part.Synthetic)
				apart = apart || i+1 < len(parts) && isText(parts[i+1])
			}
		case *transcript.LinkPart:
			write(describeLink(part), false)
		case *transcript.ResourcePart:
			write(fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", part.URI, part.Text), true)
		case *transcript.ImagePart:
			if !images {
				write(omittedImage, true)
				continue
			}
			flush()
			pieces = append(pieces, piece{image: part})
		}
	}
	flush()
	return pieces
}

func isText(part transcript.Part) bool {
	_, is := part.(*transcript.TextPart)
	return is
}

// describeLink names what a prompt points at; the content is for the model to
// read (R159).
func describeLink(l *transcript.LinkPart) string {
	name := l.Name
	if name == "" {
		name = l.Title
	}
	text := fmt.Sprintf("[@%s](%s)", oneLine(name), oneLine(l.URI))
	if l.Description != "" {
		text += " (" + oneLine(l.Description) + ")"
	}
	return text
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// appendAssistant writes an answer and, behind it, one tool message for each of
// its calls, whatever became of the call: servers refuse a history that lacks
// one.
func (e *encoder) appendAssistant(b []byte, m *transcript.Message) []byte {
	text, calls := m.Text(), m.Calls()
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	if text == "" && len(calls) == 0 {
		return b
	}
	thoughts, extras := e.thoughtsOf(m), e.extraOf(m, calls)
	b = append(b, `,{"role":"assistant","content":`...)
	b = e.appendContent(b, text, thoughts)
	b = e.appendReasoning(b, thoughts)
	for i, call := range calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendString(b, call.CallID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = appendString(b, toolName(call.Name))
		b = append(b, `,"arguments":`...)
		b = appendString(b, sentArguments(call.Input))
		b = append(b, '}')
		if extras[i] != nil {
			b = append(append(b, `,"extra_content":`...), extras[i]...)
		}
		b = append(b, '}')
	}
	if len(calls) > 0 {
		b = append(b, ']')
	}
	b = append(b, '}')
	return appendResults(b, calls, e.images)
}

// appendResults writes the tool messages, and a user message with the images of
// the results, which a tool message cannot hold.
func appendResults(b []byte, calls []*transcript.ToolPart, images bool) []byte {
	var shown []transcript.Part
	for _, call := range calls {
		b = append(b, `,{"role":"tool","tool_call_id":`...)
		b = appendString(b, call.CallID)
		b = append(b, `,"content":`...)
		b = appendString(b, resultText(call, images))
		b = append(b, '}')
		for i := range call.Images {
			if images {
				label := fmt.Sprintf("Image %d from the result of %s (%s):", i+1, call.Name, call.CallID)
				shown = append(shown, &transcript.TextPart{Text: label}, &call.Images[i])
			}
		}
	}
	return appendUser(b, userContent(shown, images))
}

func resultText(call *transcript.ToolPart, images bool) string {
	text := call.Text
	switch {
	case call.Result == nil && !call.State.Terminal():
		return interruptedResult
	case text == "" && call.Result != nil:
		text = call.Result.ErrorText
	}
	if len(call.Images) > 0 && !images {
		text = strings.TrimSpace(text + "\n" + omittedImage)
	}
	if text == "" {
		return emptyResult
	}
	return text
}

// sentArguments is the argument text of a past call. Text that is no object
// would have the server refuse the request, and with it the conversation.
func sentArguments(input string) string {
	if trimmed := strings.TrimSpace(input); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return input
	}
	return "{}"
}
