package builtin

import (
	"strings"
	"unicode/utf8"
)

// cleanOutput makes a command's output fit to read: escape sequences of
// terminals are taken out, other control characters but newline and tab too, a
// carriage return ends a line, and bytes that are not UTF-8 become U+FFFD.
func cleanOutput(raw string) string {
	if clean(raw) {
		return raw
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == 0x1b:
			i += escapeLen(raw[i:])
			continue
		case c == '\r':
			if i+1 == len(raw) || raw[i+1] != '\n' {
				b.WriteByte('\n')
			}
			i++
			continue
		case c < 0x20 && c != '\n' && c != '\t', c == 0x7f:
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(raw[i:])
		if r < 0x80 || r > 0x9f { // not one of the C1 controls
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// clean reports whether there is nothing to do, the usual case.
func clean(text string) bool {
	for _, r := range text {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// escapeLen is the length of the escape sequence at the start of text: a
// control sequence "ESC [ ... final", a string "ESC ] ... BEL or ESC \", or ESC
// with intermediate bytes and one final byte. One that is cut short reaches to
// the end of its line, so that it cannot swallow what follows.
func escapeLen(text string) int {
	if len(text) == 1 {
		return 1
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			switch c := text[i]; {
			case c >= 0x40 && c <= 0x7e:
				return i + 1
			case c < 0x20 || c > 0x7e:
				return i
			}
		}
		return len(text)
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(text); i++ {
			switch {
			case text[i] == 0x07:
				return i + 1
			case text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\':
				return i + 2
			case text[i] == '\n':
				return i
			}
		}
		return len(text)
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 0x30 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i
		}
	}
	return len(text)
}
