package patch_test

import (
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"pgregory.net/rapid"

	"acp-agent/internal/patch"
)

// texts are made of few different lines, so that many places are alike, and of
// lines that look like parts of a patch.
func texts() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"a", "b", "\tc", "", " ", "-- x", "++ y", "@@ -1 +1 @@", "\\ z", "a\r", "--- a/f", "diff --git a b", "\ufeffa"})
	return rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "final newline") && text != "" {
			text += "\n"
		}
		return text
	})
}

// TestApply_RoundTrip: the diff from a to b, applied to a, gives b byte for byte.
func TestApply_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
		diff := udiff.Unified("a/f", "b/f", a, b)
		if diff == "" {
			return
		}
		p, err := patch.Parse(t.Context(), diff)
		if err != nil {
			t.Fatalf("Parse: %v\n%s", err, diff)
		}
		got, err := patch.Apply(t.Context(), a, p.Files()[0])
		if err != nil || got != b {
			t.Fatalf("Apply = %q, %v; want %q\n%s", got, err, b, diff)
		}
	})
}

// TestApply_LineEnds: the same diff with LF alone, applied to the text with
// CRLF, gives the new text with CRLF.
func TestApply_LineEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
		plain := func(s string) string { return strings.NewReplacer("\r", "", "\ufeff", "").Replace(s) }
		a, b := plain(texts().Draw(t, "a"))+"\nend\n", plain(texts().Draw(t, "b"))+"\nend\n"
		diff := udiff.Unified("a/f", "b/f", a, b)
		if diff == "" {
			return
		}
		p, err := patch.Parse(t.Context(), diff)
		if err != nil {
			t.Fatalf("Parse: %v\n%s", err, diff)
		}
		got, err := patch.Apply(t.Context(), crlf(a), p.Files()[0])
		if err != nil || got != crlf(b) {
			t.Fatalf("Apply = %q, %v; want %q\n%s", got, err, crlf(b), diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		names + hunk,
		"diff --git a/x b/y\nrename from x\nrename to y\n" + hunk,
		"*** Begin Patch\n*** Update File: u\n*** Move to: v\n@@ x\n-a\n+b\n*** End of File\n*** End Patch",
		"```\n--- \"a/\\303\"\n+++ \"b/\\303\"\n@@ @@\n-a\n\\ No newline at end of file\n+b\n-- \n2\n```",
	} {
		f.Add(seed, "a\nb\n")
	}
	f.Fuzz(func(t *testing.T, text, old string) {
		p, err := patch.Parse(t.Context(), text)
		if err != nil {
			if p != nil {
				t.Errorf("a patch along with the error %v", err)
			}
			return
		}
		for _, c := range p.Files() {
			if c.Path == "" || c.Op == patch.Rename && c.NewPath == "" {
				t.Errorf("change without a name: %+v", c)
			}
			_, _ = patch.Apply(t.Context(), old, c) // must not panic
		}
	})
}

// FuzzApply: a text grows by the lines that its patch adds and removes, if no
// line is one without end.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")
	f.Add("a\r\n\tb\r\nc", "@@\n b\n-c\n+C\n")
	f.Add("\ufeffa\n", "@@ -1 +1 @@\n-a \n+A\n")
	f.Fuzz(func(t *testing.T, old, hunks string) {
		p, err := patch.Parse(t.Context(), names+hunks)
		if err != nil {
			return
		}
		c := p.Files()[0]
		got, err := patch.Apply(t.Context(), old, c)
		if err != nil {
			return
		}
		added, removed := c.Count()
		lines := func(s string) int { return strings.Count(strings.TrimSuffix(s, "\n")+"\n", "\n") }
		if old != "" && got != "" && !strings.Contains(hunks, "\\") && lines(got)-lines(old) != added-removed {
			t.Errorf("%d lines became %d by +%d -%d\n%q\n%q", lines(old), lines(got), added, removed, old, got)
		}
	})
}
