package record

import (
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// heldWords and heldBytes bound the end of a growing text that waits for the rest.
	heldWords = 4
	heldBytes = 4 << 10
)

// piece is the part of a growing text that stands in one entry.
type piece struct {
	start, end int // the place of its literal in waitingEntry.text
	text       string
	final      bool // it has no secret, and does not change any more
	changed    bool // text is not what the literal says
}

// stream is the part of a growing text that is not final.
type stream struct {
	open  []*piece // in order; the first may be final in part
	since time.Time
	grew  bool // it is in joiner.grew
}

// text returns the text of the open pieces.
func (s *stream) text() string {
	if len(s.open) == 1 {
		return s.open[0].text
	}
	var b strings.Builder
	for _, g := range s.open {
		b.WriteString(g.text)
	}
	return b.String()
}

// release makes the first n bytes of a stream final; text is that of its open pieces. If they have a secret, the
// first piece gets all of the cleaned text.
func (s *stream) release(clean func(string) string, text string, n int, now time.Time) {
	if n == 0 {
		return
	}
	cleaned := clean(text[:n])
	same := cleaned == text[:n]
	left := n
	for i, g := range s.open {
		size := len(g.text)
		if !same {
			rest := ""
			if size > left {
				rest = g.text[left:]
			}
			g.text, g.changed = rest, true
			if i == 0 {
				g.text = cleaned + rest
			}
		}
		if size > left {
			s.open = s.open[i:]
			s.since = now
			return
		}
		g.final = true
		left -= size
	}
	s.open = nil
}

// safeLength returns how much of a growing text can be cleaned before the rest arrives: all but a few words
// at its end, and nothing of a private key that has not ended.
func safeLength(text string) int {
	end := len(text)
	for range heldWords {
		i := strings.LastIndexAny(text[:end], " \t\n")
		if i < 0 {
			end = 0
			break
		}
		end = i
	}
	if begin := strings.LastIndex(text, "-----BEGIN"); begin >= 0 && begin > strings.LastIndex(text, "-----END") {
		end = min(end, begin)
	}
	if len(text)-end > heldBytes {
		end = len(text) - heldBytes/2
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	return end
}
