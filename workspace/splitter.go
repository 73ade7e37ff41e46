package workspace

import (
	"strings"

	"acp-agent/internal/textcut"
)

// splitter turns a stream of bytes into valid UTF-8 pieces. A character that
// is cut at the end of a piece waits for the rest.
type splitter struct{ held []byte }

func (s *splitter) add(p []byte) string {
	all := append(s.held, p...)
	ready := textcut.Whole(all)
	text := strings.ToValidUTF8(string(ready), "\uFFFD")
	s.held = append([]byte(nil), all[len(ready):]...)
	return text
}

// flush gives out what never became whole.
func (s *splitter) flush() string {
	text := strings.ToValidUTF8(string(s.held), "\uFFFD")
	s.held = nil
	return text
}
