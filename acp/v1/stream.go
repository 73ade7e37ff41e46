package v1

import (
	"strings"
	"time"

	"acp-agent/transcript"
)

// Pacing of streamed text. A piece is sent at once when the last update is at least
// textInterval old; otherwise it waits for that moment together with the pieces that follow.
// While the last update is not even written, because the client does not read, text gathers
// up to textBytes.
const (
	textInterval = 4 * time.Millisecond
	textBytes    = 4 << 10
)

// stream is the text and the reasoning that one agent streams.
type stream struct {
	parts   map[string]openPart
	waiting strings.Builder // text of the part of, not sent yet
	of      openPart
	said    strings.Builder // text of the main agent in this turn, see unsaid
	last    sentMark
}

// openPart is a part that has started and not ended.
type openPart struct {
	message string
	kind    transcript.PartKind
}

func newStream() stream { return stream{parts: map[string]openPart{}} }
