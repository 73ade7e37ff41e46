package tools

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFit(t *testing.T) {
	lines := strings.Repeat("0123456789\n", 10) // 110 bytes
	tests := []struct {
		name, text string
		size       int
		want       string
	}{
		{"fits", "short", 5, "short"},
		{"no bound", "short", 0, "short"},
		{"whole lines", lines, 50, "0123456789\n0123456789\n[66 bytes left out here, too long for the model's window; W]\n0123456789\n0123456789\n"},
		{"a line that ends at the cut", lines, 44, "0123456789\n0123456789\n[66 bytes left out here, too long for the model's window; W]\n0123456789\n0123456789\n"},
		{"one long line", strings.Repeat("a", 20) + strings.Repeat("z", 20), 8, "aaaa\n[32 bytes left out here, too long for the model's window; W]\nzzzz"},
		{"whole characters", "äöüÄÖÜß", 6, "ä\n[10 bytes left out here, too long for the model's window; W]\nß"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Fit(tt.text, tt.size, "W"); got != tt.want {
				t.Errorf("Fit() = %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzFit holds that nothing but the line in the middle comes to a text, that its bound
// holds, and that characters stay whole.
func FuzzFit(f *testing.F) {
	f.Add("0123456789\n0123456789\n0123456789\n", 20)
	f.Add("äöü\xff\x80\x80\x80", 3)
	f.Add("\n\n\n\n", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		got := Fit(text, size, "W")
		if size <= 0 || len(text) <= size {
			if got != text {
				t.Fatalf("a text that fits became %q", got)
			}
			return
		}
		head, tail := fitHead(text, size/2), fitTail(text, size-size/2)
		if len(head)+len(tail) > size || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Fatalf("head %q and tail %q of %q exceed %d bytes or are not its ends", head, tail, text, size)
		}
		if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) {
			t.Fatalf("Fit() = %q without its ends", got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("Fit() broke a character: %q", got)
		}
	})
}
