package workspace

import (
	"strings"
	"unicode/utf8"
)

// splitter turns a stream of bytes into valid UTF-8 pieces. A character that
// is cut at the end of a piece waits for the rest.
type splitter struct{ held []byte }

func (s *splitter) add(p []byte) string {
	all := append(s.held, p...)
	cut := whole(all)
	text := strings.ToValidUTF8(string(all[:cut]), "\uFFFD")
	s.held = append([]byte(nil), all[cut:]...)
	return text
}

// flush gives out what never became whole.
func (s *splitter) flush() string {
	text := strings.ToValidUTF8(string(s.held), "\uFFFD")
	s.held = nil
	return text
}

// whole is the length of p without a character that has only begun at its end.
func whole(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return i
			}
			break
		}
	}
	return len(p)
}
