package kinds

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count is a number of things in words: "1 file", "2 files".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// Bounds of what Names writes out, in runes, so that a title has space for what stands
// before and after it.
const (
	namesRunes = 90
	nameRunes  = 60 // of one name, whose end says most
)

// Names joins names for a title: "a, b, c". Names that do not fit are counted: "a, b and
// 7 more". The first is always named.
func Names(names []string) string {
	var shown []string
	runes := 0
	for i, name := range names {
		if n := utf8.RuneCountInString(name); n > nameRunes {
			name = "…" + string([]rune(name)[n-nameRunes+1:])
		}
		if runes += 2 + utf8.RuneCountInString(name); i > 0 && runes > namesRunes {
			return strings.Join(shown, ", ") + " and " + strconv.Itoa(len(names)-i) + " more"
		}
		shown = append(shown, name)
	}
	return strings.Join(shown, ", ")
}
