package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ToolCall is Amplifier's record of a call (R7): the id that its result is
// matched with, the tool's name as the model wrote it, and the arguments, one
// JSON object whose bytes are kept.
type ToolCall struct {
	ID, Name  string
	Arguments json.RawMessage
	// Form is how a decoded record was spelled.
	Form Form
}

// DecodeToolCall reads a record. Each of its three keys is required.
func DecodeToolCall(data []byte) (ToolCall, error) {
	members, err := parseObject(data)
	if err != nil {
		return ToolCall{}, fmt.Errorf("tool call: %w", err)
	}
	c := ToolCall{Form: Form{Keys: members.names()}}
	var isID, isName bool
	for _, m := range members {
		switch m.name {
		case "id":
			c.ID, isID = asText(m.raw)
		case "name":
			c.Name, isName = asText(m.raw)
		case "arguments":
			c.Arguments = m.raw
		default:
			c.Form.keep(m.name, m.raw)
		}
	}
	if !isID || !isName {
		return ToolCall{}, errors.New("tool call: id and name must be strings")
	}
	return c, c.check()
}

// Encode writes the record. Arguments that are not one JSON object, such as
// those of a call that the model garbled, are an error: the record has no way
// to carry them.
func (c ToolCall) Encode() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	members := object{
		{name: "id", raw: quote(c.ID)},
		{name: "name", raw: quote(c.Name)},
		{name: "arguments", raw: c.Arguments},
	}
	return members.arrange(c.Form.Keys, c.Form.Extra).encode(), nil
}

func (c ToolCall) check() error {
	if !json.Valid(c.Arguments) || !isObject(c.Arguments) {
		return fmt.Errorf("tool call %q: arguments must be a JSON object", c.Name)
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	for _, b := range raw {
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return b == '{'
	}
	return false
}
