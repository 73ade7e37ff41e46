package workspace

import (
	"testing"
	"unicode/utf8"

	"acp-agent/transcript"
)

func TestProgress_WholeCharacters(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	text := "a€𝄞ö\n"
	for size := 1; size <= len(text); size++ {
		var sink recorder
		c := g.Call("call_1", "bash", &sink)
		restarts := 0
		c.OnProgress(func() { restarts++ })
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			c.Progress(rest[:n])
			rest = rest[n:]
		}
		c.Finish()
		c.Progress([]byte("late"))
		same(t, "output", sink.output(), text)
		same(t, "restarts", restarts, (len(text)+size-1)/size)
		for _, e := range sink.events {
			if out := e.(transcript.ToolOutput); !utf8.ValidString(out.Text) || out.CallID != "call_1" {
				t.Errorf("event %+v", out)
			}
		}
	}
}

func TestProgress_InvalidBytes(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	var sink recorder
	c := g.Call("call_1", "bash", &sink)
	c.Progress([]byte("a\xffb\xe2\x82"))
	c.Progress([]byte("c\xf0\x9f"))
	c.Finish()
	same(t, "output", sink.output(), "a\uFFFDb\uFFFDc\uFFFD")
}
