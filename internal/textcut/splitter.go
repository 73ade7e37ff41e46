package textcut

import "strings"

// Splitter turns a stream of bytes into pieces of valid UTF-8. A character that is cut at the end
// of a piece is held back until the rest of it comes. The zero value is ready.
type Splitter struct{ held []byte }

// Add returns the next piece. Bytes that are not UTF-8 become U+FFFD.
func (s *Splitter) Add(p []byte) string {
	all := append(s.held, p...)
	ready := Whole(all)
	text := strings.ToValidUTF8(string(ready), "\uFFFD")
	s.held = append([]byte(nil), all[len(ready):]...)
	return text
}

// Flush returns what is held back at the end of the stream.
func (s *Splitter) Flush() string {
	text := strings.ToValidUTF8(string(s.held), "\uFFFD")
	s.held = nil
	return text
}
