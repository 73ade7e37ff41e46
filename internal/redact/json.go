package redact

import (
	"bytes"
	"encoding/json"
)

// JSON cleans each string of a JSON text by itself, and leaves all else as it is: the shape of a
// secret can reach across quotes, and what stands in its place must leave JSON behind. It
// returns the text itself when there is nothing to remove.
func JSON(text []byte, clean func(string) string) []byte {
	var out []byte
	copied := 0
	for pos := 0; pos < len(text); {
		start := bytes.IndexByte(text[pos:], '"')
		if start < 0 {
			break
		}
		start += pos
		end := literalEnd(text, start)
		pos = end
		cleaned, ok := literal(text[start:end], clean)
		if ok {
			out = append(append(out, text[copied:start]...), cleaned...)
			copied = end
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[copied:]...)
}

// literalEnd returns where a string literal ends that starts at start.
func literalEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// literal is a string literal without secrets; ok says that it differs.
func literal(quoted []byte, clean func(string) string) (cleaned []byte, ok bool) {
	if len(quoted) < Least+2 {
		return nil, false
	}
	var text string
	if bytes.IndexByte(quoted, '\\') < 0 {
		text = string(quoted[1 : len(quoted)-1])
	} else if json.Unmarshal(quoted, &text) != nil {
		return nil, false
	}
	without := clean(text)
	if without == text {
		return nil, false
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(without) != nil {
		return nil, false
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), true
}
