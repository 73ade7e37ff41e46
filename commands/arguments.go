package commands

import (
	"strings"
	"unicode"
)

// split takes what was typed apart as a shell does: quotes group words and go, and within double
// quotes a backslash stands before a quote or another one. Elsewhere a backslash is one, as in a
// path of Windows. Where a quote is not closed, as in "it's", blanks alone count.
func split(typed string) []string {
	var list []string
	var word strings.Builder
	quote, in, escaped := rune(0), false, false
	for _, r := range typed {
		switch {
		case escaped:
			if r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case quote == '"' && r == '\\':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case unicode.IsSpace(r):
			if in {
				list = append(list, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return strings.Fields(typed)
	}
	if in {
		list = append(list, word.String())
	}
	return list
}
