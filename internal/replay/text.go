package replay

import (
	"strings"

	"acp-agent/internal/record"
)

// matchText matches a piece of a growing text, which may be cut in other places than the recorded one.
func (m *matcher) matchText(session string, live *frame) {
	recorded := m.bySession[session]
	live.unordered = matchesUnordered(recorded, live)
	rest := live.text
	for _, want := range recorded {
		if want.done || want.progress || ofAnotherAnswer(want, live) {
			continue
		}
		if want.class != live.class || !m.compare.equalTexts(want.message, live.message) {
			if commute(want, live) {
				continue
			}
			m.differ(want, live)
			return
		}
		if want.unordered {
			m.accept(want, live)
			return
		}
		var wanted string
		wanted, rest = withoutBlankLine(want, rest, rest == live.text)
		n := min(len(rest), len(wanted))
		if !m.compare.equalTexts(wanted[:n], rest[:n]) {
			_ = m.player.Differ(record.Difference{
				Entry: want.entry, What: "the agent says something else", Path: "params.update.content.text", Want: wanted, Got: rest,
			})
			return
		}
		want.matchedBytes = len(want.text) - len(wanted) + n
		rest = rest[n:]
		if want.matchedBytes == len(want.text) {
			m.accept(want, live)
		}
		if rest == "" {
			return
		}
	}
	if rest != "" {
		m.unexpected(live)
	}
}

// matchesUnordered reports whether the first recorded text that live continues is unordered.
func matchesUnordered(recorded []*frame, live *frame) bool {
	for _, want := range recorded {
		if !want.done && continues(want, live) {
			return want.unordered
		}
	}
	return false
}

// continues reports whether live is the next piece of a recorded text. An unordered text is sent in one piece, so
// live must be all of it.
func continues(want, live *frame) bool {
	switch {
	case want.kind != "text" || want.class != live.class:
		return false
	case want.unordered:
		return withoutTimes(strings.TrimPrefix(want.text, blankLine)) == withoutTimes(strings.TrimPrefix(live.text, blankLine))
	}
	wanted, rest := withoutBlankLine(want, live.text, true)
	n := min(len(wanted), len(rest))
	return withoutTimes(wanted[:n]) == withoutTimes(rest[:n])
}

// blankLine separates a text from the one before it, unless that ends with one.
const blankLine = "\n\n"

// withoutBlankLine returns what has to come of a recorded text, and the rest of a live one, both without a blank line at
// their start that only one of them has: another text came before it. start says that the rest is the whole live text.
func withoutBlankLine(want *frame, rest string, start bool) (wanted, left string) {
	wanted = want.text[want.matchedBytes:]
	switch {
	case want.matchedBytes == 0 && strings.HasPrefix(wanted, blankLine) && !strings.HasPrefix(rest, "\n"):
		return wanted[len(blankLine):], rest
	case start && strings.HasPrefix(rest, blankLine) && !strings.HasPrefix(wanted, "\n"):
		return wanted, rest[len(blankLine):]
	}
	return wanted, rest
}

// ofAnotherAnswer reports whether a recorded text belongs to another answer than a piece that the agent sends.
func ofAnotherAnswer(want, live *frame) bool {
	return want.kind == "text" && (want.unordered != live.unordered || want.unordered && !continues(want, live))
}
