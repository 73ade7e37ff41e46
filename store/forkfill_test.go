package store

import (
	"testing"

	"acp-agent/transcript"
)

// How full the window is in a fork: the server's last count and what follows it, what is left of the whole
// where no server counts or a summary came after the count, and the whole where all is copied.
func TestForkedFill(t *testing.T) {
	counted := func(n int) *transcript.Message {
		return &transcript.Message{Role: transcript.Assistant, Finished: true, Usage: &transcript.Usage{Input: n}}
	}
	said := &transcript.Message{Role: transcript.User, Finished: true, Parts: []transcript.Part{&transcript.TextPart{Text: "some words of the user's"}}}
	aside := &transcript.Message{Role: transcript.User, Finished: true, Aside: true, Parts: said.Parts}
	summary := &transcript.Message{Role: transcript.Assistant, Finished: true, Compaction: &transcript.Compaction{}}
	size := sizeOf(said)
	if size == 0 {
		t.Fatal("a message takes nothing")
	}
	type messages []*transcript.Message
	for _, test := range []struct {
		name        string
		taken, left messages
		want        int
	}{
		{"all", messages{said, counted(100)}, nil, 1000},
		{"counted", messages{said, counted(100), said, counted(200)}, messages{said, counted(900)}, 200},
		{"counted, and more", messages{said, counted(100), said, aside}, messages{counted(900)}, 100 + size},
		{"not counted", messages{said, said}, messages{said, said, aside}, 1000 - 2*size},
		{"a summary after the count", messages{counted(900), summary, said}, messages{said}, 1000 - size},
		{"more than there was", messages{said}, make(messages, 1000), 0},
	} {
		fill := forkedFill{whole: 1000}
		for _, m := range test.taken {
			fill.take(m)
		}
		for _, m := range test.left {
			if m == nil {
				m = said
			}
			fill.leave(m)
		}
		if got := fill.used(); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
