package redact

import (
	"bytes"

	"acp-agent/internal/jsonscan"
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
		end := len(text)
		if size := jsonscan.StringEnd(text[start:]); size >= 0 {
			end = start + size
		}
		pos = end
		if end-start < Least+2 {
			continue
		}
		if cleaned, changed := jsonscan.ReplaceString(text[start:end], clean); changed {
			out = append(append(out, text[copied:start]...), cleaned...)
			copied = end
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[copied:]...)
}
