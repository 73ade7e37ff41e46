package wire

import (
	"encoding/json"

	"acp-agent/internal/jsonscan"
)

// AppendString writes s as a JSON string; see [jsonscan.AppendString].
func AppendString(b []byte, s string) []byte { return jsonscan.AppendString(b, s) }

// AppendComma separates what is there, if anything is, from what comes next.
func AppendComma(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	return append(b, ',')
}

// AppendSchema writes the schema of a tool's parameters. Where it is not JSON, it is that of no
// parameters, so that one faulty tool does not fail every request.
func AppendSchema(b []byte, schema json.RawMessage) []byte {
	if json.Valid(schema) {
		return append(b, schema...)
	}
	return append(b, `{"type":"object","properties":{}}`...)
}
