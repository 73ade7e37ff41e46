package transcript

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Most of a stored conversation is text, and decoding it is most of the time that loading takes. This file
// decodes the form in which EncodePart writes plain texts, in one pass. Anything else is left to
// encoding/json, which also says what is wrong with it.

// writtenType returns the type of a part if it is the first member, as EncodePart writes it; else "".
func writtenType(data []byte) string {
	rest, ok := bytes.CutPrefix(data, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	for _, kind := range []string{toolType, textType, reasoningType, imageType, linkType, resourceType} {
		if after, ok := bytes.CutPrefix(rest, []byte(kind)); ok && bytes.HasPrefix(after, []byte(`"`)) {
			return kind
		}
	}
	return ""
}

// decodePlain decodes a part that has only a type, an id and a text.
func decodePlain(data []byte, kind string) (id, text string, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"type":"`+kind+`","id":`))
	if !ok {
		return "", "", false
	}
	if id, rest, ok = cutString(rest); !ok {
		return "", "", false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"text":`)); !ok {
		return "", "", false
	}
	text, rest, ok = cutString(rest)
	return id, text, ok && string(rest) == "}"
}

// cutString decodes the JSON string at the beginning of data, and returns what follows it. ok is false for
// what is left to encoding/json: invalid strings and surrogates.
func cutString(data []byte) (text string, rest []byte, ok bool) {
	if len(data) == 0 || data[0] != '"' {
		return "", nil, false
	}
	data = data[1:]
	end := plainEnd(data)
	if end < len(data) && data[end] == '"' {
		return string(data[:end]), data[end+1:], utf8.Valid(data[:end])
	}
	var b strings.Builder
	b.Grow(textSize(data))
	for ; end < len(data) && data[end] == '\\'; end = plainEnd(data) {
		b.Write(data[:end])
		char, size := unescape(data[end:])
		if size == 0 {
			return "", nil, false
		}
		b.WriteRune(char)
		data = data[end+size:]
	}
	if end == len(data) || data[end] != '"' {
		return "", nil, false
	}
	b.Write(data[:end])
	text = b.String()
	return text, data[end+1:], utf8.ValidString(text)
}

// plainEnd is the size of the beginning of a string that has no escapes.
func plainEnd(data []byte) int {
	for i, c := range data {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(data)
}

// textSize bounds the size of the string of which data is the rest: the string ends at the first quote
// without a backslash before it.
func textSize(data []byte) int {
	for i := 0; ; i++ {
		next := bytes.IndexByte(data[i:], '"')
		if next < 0 {
			return len(data)
		}
		if i += next; i == 0 || data[i-1] != '\\' {
			return i
		}
	}
}

// unescape decodes an escape, and returns its size; 0 when it is invalid, or one of two surrogates.
func unescape(data []byte) (char rune, size int) {
	if len(data) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, data[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	if data[1] != 'u' || len(data) < 6 {
		return 0, 0
	}
	for _, c := range data[2:6] {
		digit := strings.IndexByte("0123456789abcdef", c)
		if digit < 0 {
			return 0, 0
		}
		char = char<<4 | rune(digit)
	}
	if 0xd800 <= char && char < 0xe000 {
		return 0, 0
	}
	return char, 6
}
