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

// EncodeMessage makes one line of JSON of a message and all it holds. Nothing
// is lost but what JSON cannot say: invalid UTF-8 is replaced, an empty list is
// none, white space in raw JSON goes away, and the numbers in a subagent's metadata
// are those of JSON. Raw JSON that is invalid, a message with an unknown role, or
// subagents that are nested more than 16 deep, are an error (R135).
func EncodeMessage(m *Message) ([]byte, error) {
	form, err := formOf(m, 0)
	if err != nil {
		return nil, err
	}
	return encode(form)
}

// DecodeMessage reads what EncodeMessage wrote. A part, content or role that it
// does not know is an error that names it, for a conversation with a hole in it
// would be told to the model as if it were whole.
func DecodeMessage(data []byte) (*Message, error) { return decodeMessage(data, 0) }

// decodeMessage reads a message that lies depth subagents deep.
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
