package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"

	"acp-agent/internal/jsonscan"
)

// exactJSON decodes a value without rounding its numbers.
func exactJSON(raw json.RawMessage) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// strictJSON is exactJSON for a text that must be one value and nothing else.
func strictJSON(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	if err == nil && len(bytes.TrimLeft(raw[decoder.InputOffset():], " \t\r\n")) == 0 {
		return value, nil
	}
	if err := json.Unmarshal(raw, &value); err != nil { // its message is clearer
		return nil, err
	}
	return nil, err
}

func sameJSON(a, b json.RawMessage) bool {
	x, errX := exactJSON(a)
	y, errY := exactJSON(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

var errNotJSON = errors.New("not JSON")

// jsonIn reads JSON in a text. Line breaks and tabs that stand raw in its texts are
// those of the text.
func jsonIn(text string) (any, error) {
	if json.Valid([]byte(text)) {
		return exactJSON([]byte(text))
	}
	escaped := []byte(jsonscan.EscapeControls(text))
	if !json.Valid(escaped) {
		return nil, errNotJSON
	}
	return exactJSON(escaped)
}
