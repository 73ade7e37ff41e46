package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"acp-agent/store"
	"acp-agent/transcript"
)

// jsonFormat is the version of the lines that doc.go describes.
const jsonFormat = 1

// The lines. Each has its type first.
type (
	sessionLine struct {
		Type    string                 `json:"type"`
		Format  int                    `json:"format"`
		Session store.Info             `json:"session"`
		Plan    []transcript.PlanEntry `json:"plan,omitempty"`
		Notes   []string               `json:"notes,omitempty"`
	}
	messageLine struct {
		Type     string              `json:"type"`
		Subagent string              `json:"subagent,omitempty"`
		Message  *transcript.Message `json:"message"`
	}
	partLine struct {
		Type     string          `json:"type"`
		Subagent string          `json:"subagent,omitempty"`
		Of       string          `json:"of"`
		N        int             `json:"n"`
		Part     json.RawMessage `json:"part"`
		Decision *Decision       `json:"decision,omitempty"`
	}
	subagentLine struct {
		Type     string                 `json:"type"`
		Subagent string                 `json:"subagent,omitempty"`
		Call     string                 `json:"call"`
		Record   transcript.ChildRecord `json:"record"`
	}
)

func writeJSON(w io.Writer, c Conversation) error {
	lines := jsonWriter{c: c, to: json.NewEncoder(w)}
	lines.to.SetEscapeHTML(false)
	if err := lines.to.Encode(sessionLine{"session", jsonFormat, c.Info, c.Plan, c.Notes}); err != nil {
		return err
	}
	for m, err := range c.Messages {
		if err != nil {
			return err
		}
		if err := lines.message(m, ""); err != nil {
			return err
		}
	}
	return nil
}

type jsonWriter struct {
	c  Conversation
	to *json.Encoder
}

func (j *jsonWriter) message(m *transcript.Message, subagent string) error {
	if err := j.to.Encode(messageLine{"message", subagent, m}); err != nil {
		return err
	}
	for n, part := range m.Parts {
		if err := j.part(m, n, part, subagent); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonWriter) part(m *transcript.Message, n int, part transcript.Part, subagent string) error {
	line := partLine{Type: "part", Subagent: subagent, Of: m.ID, N: n}
	data, err := transcript.EncodePart(withoutServerData(part))
	if err != nil {
		return fmt.Errorf("message %s: %w", m.ID, err)
	}
	line.Part = bytes.TrimSpace(data)
	call, isCall := part.(*transcript.ToolPart)
	if isCall {
		if d, known := j.c.Decisions[call.CallID]; known {
			line.Decision = &d
		}
	}
	if err := j.to.Encode(line); err != nil || !isCall || call.Child == nil {
		return err
	}
	record := call.Child.Record()
	if err := j.to.Encode(subagentLine{"subagent", subagent, call.CallID, record}); err != nil {
		return err
	}
	for _, m := range record.Messages {
		if err := j.message(m, record.ID); err != nil {
			return err
		}
	}
	return nil
}

// withoutServerData is a part without what only a model server reads, and without the subagent,
// which has lines of its own.
func withoutServerData(part transcript.Part) transcript.Part {
	switch p := part.(type) {
	case *transcript.ReasoningPart:
		shown := *p
		shown.Replay = nil
		return &shown
	case *transcript.ToolPart:
		shown := *p
		shown.Replay, shown.Child = nil, nil
		return &shown
	}
	return part
}
