package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// chunk is what is read of one event: the members that count, in all the forms
// in which servers send them.
type chunk struct {
	Model   string          `json:"model"`
	Object  string          `json:"object"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Groq    *struct {
		Usage *usage          `json:"usage"`
		Error json.RawMessage `json:"error"`
	} `json:"x_groq"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	Message      *delta  `json:"message"` // of an answer that is not streamed
	FinishReason literal `json:"finish_reason"`
	Usage        *usage  `json:"usage"`
}

type delta struct {
	Content          rich       `json:"content"`
	ReasoningContent rich       `json:"reasoning_content"`
	Reasoning        rich       `json:"reasoning"`
	Thinking         rich       `json:"thinking"`
	Refusal          rich       `json:"refusal"`
	ToolCalls        []toolCall `json:"tool_calls"`
	FunctionCall     *function  `json:"function_call"` // from before tool_calls

	Details json.RawMessage `json:"reasoning_details"`
	Extra   json.RawMessage `json:"extra_content"`
}

type toolCall struct {
	Index    *int     `json:"index"`
	ID       literal  `json:"id"`
	Function function `json:"function"`

	Extra json.RawMessage `json:"extra_content"`
}

type function struct {
	Name      literal   `json:"name"`
	Arguments arguments `json:"arguments"`
}

// decode reads an event into c, which may have held another. Members of an
// unexpected type count as missing.
func (c *chunk) decode(data []byte) error {
	// The decoder writes over old elements of a slice without clearing them.
	choices := c.Choices[:cap(c.Choices)]
	clear(choices)
	*c = chunk{Choices: choices[:0]}

	var list []chunk
	var target any = c
	if data[0] == '[' {
		target = &list
	}
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(data, target); err != nil && !errors.As(err, &mismatch) {
		return err
	}
	if len(list) > 0 {
		*c = list[0]
	}
	return nil
}

// reasoning is the delta's thinking and where it stands; servers that send it in
// several fields mean the same by them.
func (d *delta) reasoning() (text string, in field) {
	for i, r := range []*rich{&d.ReasoningContent, &d.Reasoning, &d.Thinking} {
		if text := r.text + r.thinking; text != "" {
			return text, []field{inReasoningContent, inReasoning, inThinking}[i]
		}
	}
	return d.Content.thinking, inChunks
}

func (d *delta) empty() bool {
	text, _ := d.reasoning()
	return d.Content.text == "" && d.Refusal.text == "" && len(d.ToolCalls) == 0 && d.FunctionCall == nil && text == "" && present(d.Details) == nil
}

// rich is a text that servers send as a string, as an object that holds it, or
// as a list of typed parts.
type rich struct{ text, thinking string }

func (r *rich) UnmarshalJSON(data []byte) error {
	*r = rich{}
	switch data[0] {
	case '"':
		r.text = unquote(data)
	case '[':
		var parts []rich
		if json.Unmarshal(data, &parts) != nil {
			return nil // what cannot be read counts as missing
		}
		for _, part := range parts {
			r.text += part.text
			r.thinking += part.thinking
		}
	case '{':
		var part struct {
			Type     string `json:"type"`
			Text     rich   `json:"text"`
			Content  rich   `json:"content"`
			Thinking rich   `json:"thinking"`
		}
		if json.Unmarshal(data, &part) != nil {
			return nil
		}
		r.text = part.Text.text + part.Content.text
		r.thinking = part.Thinking.text
		if part.Type == "thinking" || part.Type == "reasoning" {
			r.text, r.thinking = "", r.text+r.thinking
		}
	}
	return nil
}

// literal is a short text that some servers send as a number or as null.
type literal string

func (l *literal) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		*l = literal(unquote(data))
	case 'n', '{', '[':
		*l = ""
	default:
		*l = literal(data)
	}
	return nil
}

// arguments is the argument text of a call; some servers send the object itself.
type arguments string

func (a *arguments) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		*a = arguments(unquote(data))
	case 'n':
		*a = ""
	default:
		var b bytes.Buffer
		if json.Compact(&b, data) == nil {
			*a = arguments(b.String())
		}
	}
	return nil
}

// unquote reads a JSON string, which is known to be valid.
func unquote(data []byte) string {
	inner := data[1 : len(data)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		if utf8.Valid(inner) {
			return string(inner)
		}
		return strings.ToValidUTF8(string(inner), "\uFFFD")
	}
	var s string
	_ = json.Unmarshal(data, &s)
	return s
}
