package commands

import (
	"strings"
	"unicode"
)

// split splits what was typed into arguments as a shell does: quotes group words and are removed, and in
// double quotes a backslash escapes a quote or a backslash. Elsewhere a backslash is an ordinary
// character, as in a path of Windows. If a quote is not closed, as in "it's", only spaces separate.
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
