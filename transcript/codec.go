package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// messageForm is a message as JSON: its fields, and its parts each with a
// "type" that names its kind.
type messageForm struct {
	*Message
	Parts []any `json:"parts"`
}

// EncodeMessage encodes a message with all that it has as one line of JSON (R135). Only what JSON cannot
// express is lost: invalid UTF-8 is replaced, an empty list becomes nil, white space in raw JSON is
// removed, and the numbers in a subagent's metadata become JSON numbers. Invalid raw JSON, an unknown role,
// and subagents that are nested more than 16 deep are errors.
func EncodeMessage(m *Message) ([]byte, error) {
	form, err := formOf(m, 0)
	if err != nil {
		return nil, err
	}
	return encode(form)
}

// DecodeMessage decodes what EncodeMessage has encoded. An unknown part, content or role is an error that
// names it: without it, the model would read a conversation with a gap as if it were complete.
func DecodeMessage(data []byte) (*Message, error) { return decodeMessage(data, 0) }

// decodeMessage decodes a message of a subagent that is nested depth deep.
func decodeMessage(data []byte, depth int) (*Message, error) {
	var form struct {
		Message
		Parts []json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	m := form.Message
	if err := checkRole(&m); err != nil {
		return nil, err
	}
	for i, raw := range form.Parts {
		part, err := decodePart(raw, depth)
		if err != nil {
			return nil, fmt.Errorf("message %q: part %d: %w", m.ID, i, err)
		}
		m.Parts = append(m.Parts, part)
	}
	return &m, nil
}

func formOf(m *Message, depth int) (messageForm, error) {
	if m == nil {
		return messageForm{}, errors.New("message: there is none")
	}
	if err := checkRole(m); err != nil {
		return messageForm{}, err
	}
	form := messageForm{Message: m, Parts: make([]any, len(m.Parts))}
	for i, part := range m.Parts {
		var err error
		if form.Parts[i], err = partForm(part, depth); err != nil {
			return messageForm{}, fmt.Errorf("message %q: part %d: %w", m.ID, i, err)
		}
	}
	return form, nil
}

func checkRole(m *Message) error {
	if m.Role != User && m.Role != Assistant {
		return fmt.Errorf("message %q: unknown role %q", m.ID, m.Role)
	}
	return nil
}

// encode is json.Marshal that leaves <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
