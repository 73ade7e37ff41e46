package transcript

import (
	"encoding/json"
	"fmt"
)

// maxDepth bounds how deep subagents may be nested in encoded messages: more than any session allows, and
// few enough to bound the recursion.
const maxDepth = 16

// childForm is a subagent as JSON: its record and, of an opaque one, its conversation
// (R69).
type childForm struct {
	*ChildRecord
	Messages []messageForm `json:"messages,omitempty"`
}

// childFormOf is the form of a subagent below one that is nested depth deep; nil for a nil one.
func childFormOf(c *Child, depth int) (*childForm, error) {
	if c == nil {
		return nil, nil
	}
	if depth >= maxDepth {
		return nil, errTooDeep
	}
	record := c.Record()
	form := &childForm{ChildRecord: &record}
	if record.Inspectable {
		return form, nil // its own session has the messages
	}
	for _, m := range record.Messages {
		message, err := formOf(m, depth+1)
		if err != nil {
			return nil, fmt.Errorf("subagent %q: %w", record.ID, err)
		}
		form.Messages = append(form.Messages, message)
	}
	return form, nil
}

// decodeChild decodes a childForm; "" and null are no subagent.
func decodeChild(data []byte, depth int) (*Child, error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	if depth >= maxDepth {
		return nil, errTooDeep
	}
	var form struct {
		ChildRecord
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, fmt.Errorf("subagent: %w", err)
	}
	record := form.ChildRecord
	if record.Inspectable {
		if len(form.Messages) > 0 {
			return nil, fmt.Errorf("subagent %q: it is inspectable, and has messages here", record.ID)
		}
		return NewChild(record, nil), nil
	}
	var messages []*Message
	for _, raw := range form.Messages {
		m, err := decodeMessage(raw, depth+1)
		if err != nil {
			return nil, fmt.Errorf("subagent %q: %w", record.ID, err)
		}
		messages = append(messages, m)
	}
	return NewChild(record, NewLog(messages...)), nil
}

var errTooDeep = fmt.Errorf("subagents are nested more than %d deep", maxDepth)
