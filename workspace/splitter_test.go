package workspace

import (
	"strings"
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

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a€\xff\xf0\x9f\x98\x80"), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		var s splitter
		var out strings.Builder
		for rest := b; len(rest) > 0; {
			n := min(int(size%7)+1, len(rest))
			piece := s.add(rest[:n])
			if !utf8.ValidString(piece) {
				t.Fatalf("piece %q of %q", piece, b)
			}
			if len(s.held) >= utf8.UTFMax {
				t.Fatalf("%d bytes are held back", len(s.held))
			}
			out.WriteString(piece)
			rest = rest[n:]
		}
		out.WriteString(s.flush())
		if utf8.Valid(b) && out.String() != string(b) {
			t.Fatalf("%q became %q", b, out.String())
		}
	})
}
