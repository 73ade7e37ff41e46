package openai

import (
	"fmt"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// appendMessage writes the Chat Completions messages of m, each after a comma.
// A message that says nothing is written as nothing.
func (e *encoder) appendMessage(b []byte, m *transcript.Message) []byte {
	switch {
	case m.Role != transcript.Assistant:
		return appendUser(b, wire.UserContent(m.Parts, e.images))
	case m.Synthetic:
		return appendUser(b, wire.UserContent([]transcript.Part{&transcript.TextPart{Text: model.Note(m)}}, e.images))
	}
	return e.appendAssistant(b, m)
}

func appendUser(b []byte, content []wire.Piece) []byte {
	if len(content) == 0 {
		return b
	}
	b = append(b, `,{"role":"user","content":`...)
	if len(content) == 1 && content[0].Image == nil {
		b = wire.AppendString(b, content[0].Text)
		return append(b, '}')
	}
	for i, c := range content {
		b = append(b, "[,"[min(i, 1)])
		if c.Image == nil {
			b = append(b, `{"type":"text","text":`...)
			b = wire.AppendString(b, c.Text)
			b = append(b, '}')
			continue
		}
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = wire.AppendString(b, "data:"+c.Image.MediaType+";base64,"+c.Image.Data)
		b = append(b, `}}`...)
	}
	return append(b, `]}`...)
}

// appendAssistant writes an answer and, after it, one tool message for each of
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
		b = wire.AppendString(b, call.CallID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = wire.AppendString(b, wire.ToolName(call.Name))
		b = append(b, `,"arguments":`...)
		b = wire.AppendString(b, wire.SentArguments(call.Input))
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
		b = wire.AppendString(b, call.CallID)
		b = append(b, `,"content":`...)
		b = wire.AppendString(b, wire.ResultText(call, images))
		b = append(b, '}')
		for i := range call.Images {
			if images {
				label := fmt.Sprintf("Image %d from the result of %s (%s):", i+1, call.Name, call.CallID)
				shown = append(shown, &transcript.TextPart{Text: label}, &call.Images[i])
			}
		}
	}
	return appendUser(b, wire.UserContent(shown, images))
}
