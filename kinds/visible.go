package kinds

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line folds text into one visible line of at most limit runes.
func Line(text string, limit int) string {
	text = Visible(strings.Join(strings.Fields(text), " "))
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

// Visible escapes what the user could not see or would be misled by: control
// characters other than newline and tab, bidirectional controls, invisible
// tag characters, and invalid UTF-8 (docs/security.md O2).
func Visible(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "�") {
		if hidden(r) {
			fmt.Fprintf(&b, "\\u{%x}", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff:
		return true
	case r == 0x061c, r >= 0x206a && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return true // marks of direction, of shaping and of annotations
	case r == 0x00ad, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e, r == 0x3164, r == 0xffa0:
		return true // blanks, joiners and hyphens that are not shown
	case r >= 0xe0000 && r <= 0xe01ef:
		return true // tags, and selectors that no emoji has
	}
	return false
}
