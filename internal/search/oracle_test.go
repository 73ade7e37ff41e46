package search_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/internal/search"
	"acp-agent/internal/testkit/testreq"
)

// naive is the search as one would write it down: no walk, no literals, no
// windows, one expression on one line after the other.
func naive(files fstest.MapFS, expr, glob string) (lines []string) {
	re := regexp.MustCompile(expr)
	for _, name := range naiveGlob(files, glob) {
		text := string(files[name].Data)
		if strings.Contains(text[:min(len(text), 8192)], "\x00") {
			continue
		}
		for i, line := range strings.SplitAfter(text, "\n") {
			if line == "" {
				continue
			}
			if body, ended := strings.CutSuffix(line, "\n"); ended {
				line = strings.TrimSuffix(body, "\r")
			}
			if re.MatchString(line) {
				lines = append(lines, fmt.Sprintf("/w/%s:%d: %s", name, i+1, line))
			}
		}
	}
	return lines
}

func naiveGlob(files fstest.MapFS, glob string) (names []string) {
	for name := range files {
		hidden := strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
		if ok, _ := doublestar.Match(glob, name); ok && !hidden {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// trees draws file systems with few names, so that they collide, and texts with
// few words, so that patterns hit.
func trees(t *rapid.T) fstest.MapFS {
	element := rapid.SampledFrom([]string{"a", "b", "a.go", "b-c", "a.d", ".h", "é"})
	word := rapid.SampledFrom([]string{
		"foo", "Foo", "bar", "errors", "task", "ta\u017f\u212a", "é", "É", " ", "\n", "\n", "\r\n", "\r", "\xff", "1", "x1y", "_", "\x00",
	})
	files := fstest.MapFS{}
	for range rapid.IntRange(0, 12).Draw(t, "files") {
		name := strings.Join(rapid.SliceOfN(element, 1, 4).Draw(t, "path"), "/")
		files[name] = &fstest.MapFile{Data: []byte(strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "text"), "")), Mode: 0o644}
	}
	// A file cannot be a directory too.
	for name := range files {
		for dir := name; strings.Contains(dir, "/"); {
			dir = dir[:strings.LastIndexByte(dir, '/')]
			delete(files, dir)
		}
	}
	return files
}

func TestGrep_AgreesWithNaive(t *testing.T) {
	t.Parallel()
	pattern := rapid.SampledFrom([]string{
		"foo", "task", "ERRORS", "foo|bar", "foo|errors|é", `\bfoo\b`, `^foo`, `foo$`, `^$`, `^\s*$`, `o+\s*b`, `[a-z]\d[a-z]`,
		`(foo|bar)+e`, `f.o`, `\x{FFFD}`, `é`, `[^a-z]`, `x?1y?`, `(?-i)Foo`, `foo.*errors|1`, `\Bo\b`, `.`, ``, `\pL\d`, `[[:upper:]]a`, `k$`, `(?s)o.`,
	})
	rapid.Check(t, func(t *rapid.T) {
		files := trees(t)
		expr := pattern.Draw(t, "pattern")
		exact := rapid.Bool().Draw(t, "case sensitive")
		var all bytes.Buffer
		got, err := search.Grep(t.Context(), search.FromFS(files), search.GrepOptions{
			Base: "/w", Pattern: expr, CaseSensitive: exact, MaxPerFile: 1000, MaxTotal: 100_000, Workers: 3,
		}, &all)
		if err != nil {
			t.Fatal(err)
		}
		if !exact {
			expr = "(?i)" + expr
		}
		want := naive(files, expr, "**")
		text := strings.Join(want, "\n")
		if text != "" {
			text += "\n"
		}
		if diff := cmp.Diff(text, all.String()); diff != "" || got.Total != len(want) {
			t.Fatalf("total %d, want %d (-want +got)\n%s", got.Total, len(want), diff)
		}
		for i, l := range want {
			want[i] = strings.ToValidUTF8(l, "\ufffd")
		}
		if diff := cmp.Diff(want, got.Lines); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

func TestGlob_AgreesWithNaive(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"a", "b", "*", "**", "/", "/", "?", "{a,b-c}", "{a/b,b}", "[ab]", "*.go", "é"})
	rapid.Check(t, func(t *rapid.T) {
		files := trees(t)
		pattern := strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "pattern"), "")
		got, err := search.Glob(t.Context(), search.FromFS(files), search.GlobOptions{Base: "/w", Pattern: pattern})
		if errors.As(err, new(*search.PatternError)) {
			t.Skip("not a pattern")
		}
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, name := range naiveGlob(files, pattern) {
			want = append(want, "/w/"+name)
		}
		if diff := cmp.Diff(want, got.Paths); diff != "" {
			t.Fatalf("pattern %q (-want +got)\n%s", pattern, diff)
		}
	})
}

// TestGlob_AgreesWithGit compares what is visible with what git would add.
func TestGlob_AgreesWithGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "no git, which is the oracle of this test")
	}
	element := rapid.SampledFrom([]string{"a", "b", "c.log", "d", "e.go"})
	rule := rapid.SampledFrom([]string{"a", "a/", "/a", "*.log", "!c.log", "d/*", "!d/a", "b/**/e.go", "**/d", "!a", "!*/", "*", "e.*"})
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		run(t, exec.Command(git, "init", "-q", dir))
		put := func(name, content string) {
			full := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(full), 0o700); err == nil {
				_ = os.WriteFile(full, []byte(content), 0o600) // a directory of that name: no file
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "files") {
			put(strings.Join(rapid.SliceOfN(element, 1, 4).Draw(t, "path"), "/"), "")
		}
		for range rapid.IntRange(1, 3).Draw(t, "ignore files") {
			at := strings.Join(rapid.SliceOfN(element, 0, 2).Draw(t, "dir"), "/")
			put(filepath.Join(at, ".gitignore"), strings.Join(rapid.SliceOfN(rule, 1, 4).Draw(t, "rules"), "\n"))
		}
		put(".git/info/exclude", strings.Join(rapid.SliceOfN(rule, 0, 2).Draw(t, "excludes"), "\n"))
		out := run(t, exec.Command(git, "-C", dir, "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"))
		var want []string
		for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
			if name != "" {
				want = append(want, dir+"/"+name)
			}
		}
		slices.Sort(want)
		root := openDir(t, dir)
		defer root.Close()
		got, err := search.Glob(t.Context(), root, search.GlobOptions{Base: dir, Pattern: "**", Hidden: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Paths); diff != "" {
			t.Fatalf("(-git +ours)\n%s", diff)
		}
	})
}

func run(t *rapid.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return string(out)
}

// FuzzGrep holds any pattern over any text to package regexp.
func FuzzGrep(f *testing.F) {
	f.Add("foo|ba[rz]", "foo\nBAR\r\n", true)
	f.Add(`\b\w+\s$`, "x y \n\xff\n", false)
	f.Add(`\x{FFFD}b`, "a\xffb\n", true)
	f.Add(`(?i)ſk|é{2,3}`, "SK\néÉ", false)
	f.Fuzz(func(t *testing.T, pattern, text string, exact bool) {
		if len(pattern) > 60 || len(text) > 4000 {
			t.Skip("long")
		}
		files := fstest.MapFS{"f": {Data: []byte(text), Mode: 0o644}}
		var all bytes.Buffer
		_, err := search.Grep(t.Context(), search.FromFS(files), search.GrepOptions{Base: "/w", Pattern: pattern, CaseSensitive: exact, Workers: 1}, &all)
		expr := pattern
		if !exact {
			expr = "(?i)" + expr
		}
		if _, bad := regexp.Compile(expr); bad != nil || err != nil {
			if !errors.As(err, new(*search.PatternError)) {
				t.Fatalf("error %v; regexp says %v", err, bad)
			}
			return
		}
		if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			t.Skip("binary")
		}
		if got, want := all.String(), strings.Join(naive(files, expr, "**"), "\n"); strings.TrimSuffix(got, "\n") != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
