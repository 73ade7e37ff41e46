package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
)

// StringEnd returns where the string literal ends that text begins with, after its closing
// quote; -1 if text does not begin with a whole one.
func StringEnd(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return -1
	}
	for at := 1; ; {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			return -1
		}
		if at += i + 1; !escaped(text, at-1) {
			return at
		}
	}
}

// StringEndIn is StringEnd of a string.
func StringEndIn(text string) int {
	if text == "" || text[0] != '"' {
		return -1
	}
	for at := 1; ; {
		i := strings.IndexByte(text[at:], '"')
		if i < 0 {
			return -1
		}
		if at += i + 1; !escaped(text, at-1) {
			return at
		}
	}
}

// escaped reports whether the character at a place in a literal has a backslash before it that is none
// for another backslash.
func escaped[T string | []byte](text T, at int) bool {
	before := at
	for before > 0 && text[before-1] == '\\' {
		before--
	}
	return (at-before)%2 == 1
}

// ReplaceString replaces what a string literal says. changed is false where replace returns
// the text as it was, or literal has an escape that JSON does not know.
func ReplaceString(literal []byte, replace func(string) string) (replaced []byte, changed bool) {
	if len(literal) < 2 {
		return nil, false
	}
	text := string(literal[1 : len(literal)-1])
	if strings.IndexByte(text, '\\') >= 0 && json.Unmarshal(literal, &text) != nil {
		return nil, false
	}
	now := replace(text)
	if now == text {
		return nil, false
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(now) != nil {
		return nil, false
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), true
}

// EscapeControls escapes the control characters that stand raw in the string literals of a
// text, such as line breaks and tabs. What stands between the literals stays as it is.
func EscapeControls(text string) string {
	b := make([]byte, 0, len(text))
	inString, escaped := false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString && c < ' ':
			quoted, _ := json.Marshal(string(rune(c))) // a string always has a form
			b = append(b, quoted[1:len(quoted)-1]...)
			continue
		}
		b = append(b, c)
	}
	return string(b)
}
