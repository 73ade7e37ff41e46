package textcut

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a€\xff\xf0\x9f\x98\x80"), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		var s Splitter
		var out strings.Builder
		for rest := b; len(rest) > 0; {
			n := min(int(size%7)+1, len(rest))
			piece := s.Add(rest[:n])
			if !utf8.ValidString(piece) {
				t.Fatalf("piece %q of %q", piece, b)
			}
			if len(s.held) >= utf8.UTFMax {
				t.Fatalf("%d bytes are held back", len(s.held))
			}
			out.WriteString(piece)
			rest = rest[n:]
		}
		out.WriteString(s.Flush())
		if utf8.Valid(b) && out.String() != string(b) {
			t.Fatalf("%q became %q", b, out.String())
		}
	})
}
