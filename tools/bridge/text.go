package bridge

import "strings"

// Text is what a foreign tool says of itself, without the control characters of a text
// that the model will read (M4).
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}
