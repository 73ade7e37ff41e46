package textcut_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"acp-agent/internal/textcut"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text                    string
		limit                   int
		first, last, characters string
	}{
		{"", 3, "", "", ""},
		{"abc", 3, "abc", "abc", "abc"},
		{"abcd", 3, "abc", "bcd", "abc"},
		{"abc", 0, "", "", ""},
		{"abc", -1, "", "", ""},
		{"aé", 2, "a", "é", "aé"},
		{"éa", 2, "é", "a", "éa"},
		{"€uro", 1, "", "o", "€"},
		{"€", 2, "", "", "€"},
		{"a😀b", 4, "a", "b", "a😀b"},
		{"a😀b", 5, "a😀", "😀b", "a😀b"},
		{"\x80\x80\x80\x80\x80", 4, "\x80\x80\x80\x80", "\x80\x80\x80\x80", "\x80\x80\x80\x80"},
	} {
		if got := textcut.First(c.text, c.limit); got != c.first {
			t.Errorf("First(%q, %d) = %q, want %q", c.text, c.limit, got, c.first)
		}
		if got := textcut.Last([]byte(c.text), c.limit); string(got) != c.last {
			t.Errorf("Last(%q, %d) = %q, want %q", c.text, c.limit, got, c.last)
		}
		if got := textcut.Characters(c.text, c.limit); got != c.characters {
			t.Errorf("Characters(%q, %d) = %q, want %q", c.text, c.limit, got, c.characters)
		}
	}
}

func TestWhole(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "aé": "aé", "a\xc3": "a", "a\xe2\x82": "a", "\xf0\x9f\x98": "", "a\x80": "a\x80", "😀": "😀", "\x80\x80\x80\x80": "\x80\x80\x80\x80",
	} {
		if got := textcut.Whole(text); got != want {
			t.Errorf("Whole(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTail(t *testing.T) {
	tail := textcut.NewTail(6)
	for _, step := range []struct{ write, want string }{
		{"abc", "abc"}, {"def", "abcdef"}, {"g", "bcdefg"}, {"", "bcdefg"}, {"éé€", "€"}, {"a long line", "g line"},
	} {
		if n, err := tail.Write([]byte(step.write)); n != len(step.write) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", step.write, n, err)
		}
		if got := tail.String(); !strings.HasSuffix(got, step.want) || len(got) > 6 || !utf8.ValidString(got) {
			t.Errorf("after %q: %q, want the end %q", step.write, got, step.want)
		}
	}
}

func TestLine(t *testing.T) {
	from := bufio.NewReaderSize(strings.NewReader("short\n\n"+strings.Repeat("x", 40)+"\nrest"), 16)
	for _, want := range []string{"short\n", "\n", strings.Repeat("x", 40) + "\n"} {
		if line, err := textcut.Line(from, 41); err != nil || string(line) != want {
			t.Fatalf("Line() = %q, %v, want %q", line, err, want)
		}
	}
	if line, err := textcut.Line(from, 41); !errors.Is(err, io.EOF) || line != nil {
		t.Errorf("of half a line: %q, %v, want EOF", line, err)
	}
	from = bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 40)+"\n"), 16)
	if line, err := textcut.Line(from, 40); !errors.Is(err, textcut.ErrLong) {
		t.Errorf("of a long line: %q, %v, want ErrLong", line, err)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a😀é€b", 3)
	f.Add("\xff\x80\xe2\x82", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		first, last := textcut.First(text, limit), textcut.Last(text, limit)
		switch {
		case !strings.HasPrefix(text, first), !strings.HasSuffix(text, last), len(first) > max(limit, 0), len(last) > max(limit, 0):
			t.Fatalf("First %q, Last %q of %q at %d", first, last, text, limit)
		case utf8.ValidString(text) && (!utf8.ValidString(first) || !utf8.ValidString(last)):
			t.Fatalf("a character is cut: First %q, Last %q", first, last)
		case len(text) > limit && limit > utf8.UTFMax && min(len(first), len(last)) <= limit-utf8.UTFMax:
			t.Fatalf("more than a character is missing: First %q, Last %q of %q at %d", first, last, text, limit)
		}
		if whole := textcut.Whole(text); !strings.HasPrefix(text, whole) || len(text)-len(whole) >= utf8.UTFMax || utf8.ValidString(text) && whole != text {
			t.Fatalf("Whole(%q) = %q", text, whole)
		}
		runes := []rune(textcut.Characters(text, limit))
		if want := []rune(text); string(runes) != string(want[:min(len(want), max(limit, 0))]) {
			t.Fatalf("Characters(%q, %d) = %q", text, limit, string(runes))
		}
	})
}

func ExampleFirst() {
	text := "naïve"
	fmt.Println(textcut.First(text, 3) + "…")
	// Output: na…
}

func TestHead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		limit  int
		writes []string
		want   string
		cut    bool
	}{
		{"fits", 5, []string{"ab", "c"}, "abc", false},
		{"full", 3, []string{"ab", "c"}, "abc", false},
		{"cut within a write", 3, []string{"ab", "cd"}, "abc", true},
		{"cut before a write", 2, []string{"ab", "c", "d"}, "ab", true},
		{"keeps nothing", 0, []string{"a"}, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			head := textcut.NewHead(test.limit)
			for _, text := range test.writes {
				if n, err := head.Write([]byte(text)); n != len(text) || err != nil {
					t.Errorf("Write(%q) = %d, %v", text, n, err)
				}
			}
			if got := string(head.Bytes()); got != test.want || head.Cut() != test.cut {
				t.Errorf("kept %q, cut %v; want %q, %v", got, head.Cut(), test.want, test.cut)
			}
		})
	}
}
