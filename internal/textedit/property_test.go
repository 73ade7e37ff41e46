package textedit_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/internal/textedit"
)

// texts draws small texts in which repeats, blanks and line ends abound.
func texts(pieces ...string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, "pieces"), "")
	})
}

// TestApply_KeepsBytesOutside puts an old text between two others and demands
// both back to the byte.
func TestApply_KeepsBytesOutside(t *testing.T) {
	t.Parallel()
	side := texts("a", "b", " ", "\t", "\n", "\r\n", "\r", "é", "\xff")
	inner := texts("x", "y", " ", "\n", "\r\n", "\t")
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom") + side.Draw(t, "before")
		// The markers make the match unique and keep CR and LF from meeting.
		old, after := "<"+inner.Draw(t, "old")+">", side.Draw(t, "after")
		new := inner.Draw(t, "new")
		res, err := textedit.Apply(context.Background(), before+old+after, strings.ReplaceAll(old, "\r\n", "\n"), new, false)
		if err != nil {
			t.Fatalf("Apply: %v", err)
		}
		middle, ok := strings.CutPrefix(res.Content, before)
		if !ok {
			t.Fatalf("head changed: %q", res.Content)
		}
		if middle, ok = strings.CutSuffix(middle, after); !ok {
			t.Fatalf("tail changed: %q", res.Content)
		}
		if lf(middle) != lf(new) {
			t.Fatalf("inserted %q for %q", middle, new)
		}
	})
}

func lf(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// TestApply_Forgiving damages whitespace in the old text and demands that the
// edit then changes only the place it was taken from.
func TestApply_Forgiving(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.IntRange(0, 3)
		n := rapid.IntRange(2, 12).Draw(t, "lines")
		lines := make([]string, n)
		for i := range lines {
			lines[i] = strings.Repeat("\t", depth.Draw(t, "depth")) + string(rune('a'+i)) + "()"
		}
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		to := rapid.IntRange(from+1, n).Draw(t, "to")
		var old []string
		for _, l := range lines[from:to] {
			indent := strings.Count(l, "\t")
			old = append(old, strings.Repeat("    ", indent)+l[indent:]+rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "trail"))
		}
		changed := strings.Replace(strings.Join(old, "\n"), "()", "(1)", 1)
		res, err := textedit.Apply(context.Background(), strings.Join(lines, "\n"), strings.Join(old, "\n"), changed, false)
		if err != nil {
			t.Fatalf("Apply: %v", err)
		}
		want := append([]string(nil), lines...)
		want[from] = strings.Replace(want[from], "()", "(1)", 1)
		got := strings.Split(res.Content, "\n")
		for i := range got {
			got[i] = strings.TrimRight(got[i], " \t")
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestUnified_GitApplies(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "no git, which is the judge of this test")
	}
	dir := t.TempDir()
	apply := func(t *rapid.T, patch string) {
		t.Helper()
		cmd := exec.Command(git, "apply", "--whitespace=nowarn", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v\n%s\n%s", err, out, patch)
		}
	}
	text := texts("a\n", "b\n", "c\r\n", "\n", "d", "é\n", "-- x\n", "\\ y\n")
	names := rapid.SampledFrom([]string{"f", "a b", "sub/f", `q"uote`, "tab\tbed", "é", "b\\s"})
	rapid.Check(t, func(t *rapid.T) {
		name, old, new := names.Draw(t, "name"), text.Draw(t, "old"), text.Draw(t, "new")
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(old), 0o644); err != nil {
			t.Fatal(err)
		}
		if patch := textedit.Unified(t.Context(), "/"+name, old, new); patch != "" {
			apply(t, patch)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != new {
			t.Fatalf("after git apply: %q, %v; want %q", got, err, new)
		}
	})
}

func TestUnified_HugeIsBounded(t *testing.T) {
	t.Parallel()
	old := "head\n" + strings.Repeat("x\n", 60_000) + "tail\n"
	new := "head\n" + strings.Repeat("y\n", 60_000) + "tail\n"
	got := textedit.Unified(t.Context(), "f", old, new)
	if !strings.Contains(got, "@@ -1,60002 +1,60002 @@\n head\n-x\n") || !strings.HasSuffix(got, "+y\n tail\n") {
		t.Errorf("diff of %d bytes starts %.80q", len(got), got)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a\r\n b\n", "a\nb", "c\n", true)
	f.Add("\ufeff\ta \n", "a\n", "", false)
	f.Fuzz(func(t *testing.T, content, old, new string, all bool) {
		m, err := textedit.Match(content, old, all)
		res, applyErr := textedit.Apply(context.Background(), content, old, new, all)
		if err != nil {
			if applyErr == nil {
				t.Fatalf("Match: %v, Apply went through: %q", err, res.Content)
			}
			return
		}
		if applyErr != nil {
			if !errors.As(applyErr, &textedit.SameError{}) {
				t.Fatalf("Match found %v, Apply: %v", m.Spans, applyErr)
			}
			return
		}
		if len(m.Spans) != res.Replacements || m.Fuzzy != res.Fuzzy || !all && len(m.Spans) != 1 {
			t.Fatalf("Match %+v, Apply %+v", m, res)
		}
		rest, end := res.Content, 0
		for _, s := range m.Spans {
			if s.Start < end || s.End < s.Start || s.End > len(content) {
				t.Fatalf("spans out of order: %v", m.Spans)
			}
			_, found := strings.CutPrefix(rest, content[end:s.Start])
			if end == 0 && !found {
				t.Fatalf("head changed: %q", res.Content)
			}
			end = s.End
		}
		if !strings.HasSuffix(res.Content, content[end:]) {
			t.Fatalf("tail changed: %q", res.Content)
		}
		if first, last := res.LineRange[0], res.LineRange[1]; first < 1 || last < first || last > max(1, strings.Count(res.Content, "\n")+1) {
			t.Fatalf("line range %v of %q", res.LineRange, res.Content)
		}
	})
}
