package textedit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/internal/textedit"
)

// plainly is Match in its simplest form: line by line, place by place.
func plainly(content, old string, all bool) (m textedit.Matches, count int) {
	add := func(start, end int) {
		if count++; all || count == 1 {
			m.Spans = append(m.Spans, textedit.Span{Start: start, End: end})
		}
	}
	for at := 0; at+len(old) <= len(content); at++ {
		if strings.HasPrefix(content[at:], old) {
			add(at, at+len(old))
			if all {
				at += len(old) - 1
			}
		}
	}
	if count > 0 || strings.TrimSpace(old) == "" {
		return m, count
	}
	body, ended := strings.CutSuffix(old, "\n")
	want, have := strings.Split(body, "\n"), strings.SplitAfter(content, "\n")
	if have[len(have)-1] == "" {
		have = have[:len(have)-1]
	}
	m.Fuzzy = true
	for _, keepIndent := range []bool{true, false} {
		for at, start := 0, 0; at+len(want) <= len(have); at++ {
			there, end := make([]string, len(want)), start
			for i, line := range have[at : at+len(want)] {
				there[i], end = strings.TrimSuffix(line, "\n"), end+len(line)
			}
			next := start + len(have[at])
			if _, ok := textedit.Forgive(there, want, keepIndent); ok {
				if !ended && strings.HasSuffix(have[at+len(want)-1], "\n") {
					end--
				}
				add(start, end)
				if all {
					for ; len(want) > 1 && at+1 < len(have) && next < end; at++ {
						next += len(have[at+1])
					}
				}
			}
			start = next
		}
		if count > 0 {
			break
		}
	}
	return m, count
}

// TestMatch_AsPlainly compares texts that repeat themselves with the plain way
// of looking.
func TestMatch_AsPlainly(t *testing.T) {
	t.Parallel()
	text := texts("a\n", "a\n", "\ta\n", "  a\n", "a \n", "b\n", "\tb\n", "    b\n", "\n", " \n", "a")
	rapid.Check(t, func(t *rapid.T) {
		content, old, all := text.Draw(t, "content"), text.Draw(t, "old"), rapid.Bool().Draw(t, "all")
		if old == "" {
			return
		}
		want, count := plainly(content, old, all)
		got, err := textedit.Match(content, old, all)
		switch {
		case count == 0:
			if !errors.Is(err, textedit.NotFoundError{}) {
				t.Fatalf("found %+v, %v; want nothing", got, err)
			}
			return
		case count > 1 && !all:
			if !errors.Is(err, textedit.MultipleError{Count: count}) {
				t.Fatalf("found %+v, %v; want %d places", got, err, count)
			}
			return
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
}

// hostile are the texts that cost most: a file of equal lines, and old texts
// that differ from it as late as can be.
func hostile() []struct {
	name, content, old string
	want               error
} {
	const lines, size = 400_000, 40_000
	file := strings.Repeat("a\n", lines)
	deep := strings.Repeat("    ", 1+size/4)
	return []struct {
		name, content, old string
		want               error
	}{
		{"another last line", file, strings.Repeat("a\n", size) + "b\n", textedit.NotFoundError{}},
		{"everywhere", file, strings.Repeat("a\n", size), textedit.MultipleError{Count: lines - size + 1}},
		{"blanks at the ends", file, strings.Repeat("a \n", size), textedit.MultipleError{Count: lines - size + 1}},
		{"indentation", file, strings.Repeat("\ta\n", size), textedit.MultipleError{Count: lines - size + 1}},
		{"indentation of the last line", file, strings.Repeat("a\n", size) + " a\n", textedit.NotFoundError{}},
		{"indentation of the last line of the file", file + "\ta\n", strings.Repeat(" a\n", size), textedit.MultipleError{Count: lines - size + 1}},
		{"one long line", strings.Repeat("a", 2*lines), strings.Repeat("a", 2*size), textedit.MultipleError{Count: 2*lines - 2*size + 1}},
		{"deep indentation", deep + "a\n" + file, "\t" + deep + "b\n" + strings.Repeat("a\n", size), textedit.NotFoundError{}},
		{"blank lines", strings.Repeat("\n", lines) + "a", strings.Repeat(" \n", size) + "b", textedit.NotFoundError{}},
	}
}

// TestApply_HostileIsFast holds the time of an edit, and of the hint after it,
// to the size of its texts; place by place each of them takes minutes.
func TestApply_HostileIsFast(t *testing.T) {
	t.Parallel()
	for _, tt := range hostile() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			done := make(chan error, 1)
			go func() {
				_, err := textedit.Apply(context.Background(), tt.content, tt.old, "c\n", false)
				_ = textedit.NearestHint(t.Context(), tt.content, tt.old)
				done <- err
			}()
			select {
			case err := <-done:
				if !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
			case <-time.After(time.Minute):
				t.Error("it takes longer than a minute")
			}
		})
	}
}

// Everywhere at once costs no more, and what would not fit into memory is
// refused.
func TestApply_HostileEverywhere(t *testing.T) {
	t.Parallel()
	const lines = 30_000
	file := strings.Repeat("a\r\n", lines)
	for old, new := range map[string]string{"a\n": "b\n", "a \n": "b\n", "\ta\n": "\tb\n", "a": "b"} {
		res, err := textedit.Apply(context.Background(), file, old, new, true)
		if err != nil || res.Replacements != lines || res.Content != strings.Repeat("b\r\n", lines) {
			t.Errorf("%q: %d replacements, %v", old, res.Replacements, err)
		}
	}
	if _, err := textedit.Apply(context.Background(), file, "a", strings.Repeat("b", 100_000), true); !errors.Is(err, textedit.TooLargeError{}) {
		t.Errorf("error %v, want that it is too large", err)
	}
}

// A new line as deep as this is looked up once for each indentation that the old
// text has, not once for each of its blanks.
func TestApply_DeepNewLine(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("\t", 1_000_000) + "c\n"
	res, err := textedit.Apply(context.Background(), "  a\n", "\ta\n", "\tb\n"+deep, false)
	if want := "  b\n  " + deep[1:]; err != nil || res.Content != want {
		t.Errorf("%d bytes, %v; want %d", len(res.Content), err, len(want))
	}
}

func TestForgiver(t *testing.T) {
	t.Parallel()
	var f textedit.Forgiver
	lines := make([]string, 1000)
	for range 5000 {
		if f.Spent() {
			break
		}
		if _, ok := f.Forgive(lines, lines, true); !ok {
			t.Fatal("equal lines are not alike")
		}
	}
	if _, ok := f.Forgive(lines, lines, true); ok || !f.Spent() {
		t.Errorf("after 5 million lines: alike %v, spent %v", ok, f.Spent())
	}
}

func BenchmarkMatch_Hostile(b *testing.B) {
	for _, tt := range hostile() {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.content)))
			for b.Loop() {
				_, _ = textedit.Match(tt.content, tt.old, false)
			}
		})
	}
}
