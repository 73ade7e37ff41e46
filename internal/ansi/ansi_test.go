package ansi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/ansi"
)

func TestSpans(t *testing.T) {
	type spans = []ansi.Span
	red := ansi.Style{Foreground: ansi.Red}
	tests := []struct {
		name, text string
		want       spans
	}{
		{"empty", "", nil},
		{"plain", "a\nb", spans{{Text: "a\nb"}}},
		{"a colour", "\x1b[31mFAIL\x1b[0m ok", spans{{Text: "FAIL", Style: red}, {Text: " ok"}}},
		{"over lines", "\x1b[31ma\nb\x1b[m", spans{{Text: "a\nb", Style: red}}},
		{"bold and bright", "\x1b[1;92mx", spans{{Text: "x", Style: ansi.Style{Bold: true, Foreground: ansi.Bright + 2}}}},
		{"background, inverse", "\x1b[7;44mx", spans{{Text: "x", Style: ansi.Style{Inverse: true, Background: ansi.Blue}}}},
		{"one of 256", "\x1b[38;5;196mx", spans{{Text: "x", Style: ansi.Style{Foreground: ansi.Bright + 1}}}},
		{"true colour", "\x1b[38;2;200;10;0mx\x1b[39my", spans{{Text: "x", Style: red}, {Text: "y"}}},
		{"true colour with colons", "\x1b[38:2::200:10:0mx", spans{{Text: "x", Style: red}}},
		{"true colour, then bold", "\x1b[38;2;200;10;0;1mx", spans{{Text: "x", Style: ansi.Style{Bold: true, Foreground: ansi.Red}}}},
		{"a colour that is cut", "\x1b[38;2;200mx", spans{{Text: "x"}}},
		{"curly underline ends", "\x1b[4:3mx\x1b[4:0my", spans{{Text: "x", Style: ansi.Style{Underline: true}}, {Text: "y"}}},
		{"progress", "10%\r100%\rdone\n", spans{{Text: "done\n"}}},
		{"progress that is erased", "loading…\r\x1b[Kdone", spans{{Text: "done"}}},
		{"line ends of Windows", "a\r\nb", spans{{Text: "a\nb"}}},
		{"backspace", "ab\bc", spans{{Text: "ac"}}},
		{"title of a window", "\x1b]0;evil\ax", spans{{Text: "x"}}},
		{"a link", "\x1b]8;;https://a.example\x1b\\text\x1b]8;;\x1b\\", spans{{Text: "text"}}},
		{"a string without an end", "\x1b]0;a\nb", spans{{Text: "\nb"}}},
		{"moves and private modes", "\x1b[2J\x1b[H\x1b[?25lx\x1b(By", spans{{Text: "xy"}}},
		{"a sequence that is cut", "x\x1b[3", spans{{Text: "x"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ansi.Spans(test.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzANSI(f *testing.F) {
	for _, seed := range []string{
		"plain", "\x1b[31mred\x1b[0m", "\x1b[38;2;1;2;3mx", "a\rb\bc\n", "\x1b]8;;u\x1b\\t\x1b]8;;\a", "\x1b[38:5:300mx", "\x1b", "\xff\x1b[",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spans := ansi.Spans(text)
		size := 0
		for i, span := range spans {
			size += len(span.Text)
			if span.Text == "" || strings.ContainsAny(span.Text, "\x1b\r\b\a") {
				t.Fatalf("span %d of %q is %q", i, text, span.Text)
			}
			if i > 0 && spans[i-1].Style == span.Style {
				t.Fatalf("spans %d and %d of %q have one style", i-1, i, text)
			}
			if span.Style.Foreground > ansi.Colors || span.Style.Background > ansi.Colors {
				t.Fatalf("colour %+v", span.Style)
			}
		}
		if size > len(text) {
			t.Fatalf("%d bytes of %d", size, len(text))
		}
		if got := strings.Count(ansi.Text(text), "\n"); got != len(strings.Split(text, "\n"))-1 && !strings.Contains(text, "\x1b") {
			t.Fatalf("%d lines of %q", got, text)
		}
	})
}
