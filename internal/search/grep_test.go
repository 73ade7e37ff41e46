package search_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/search"
)

// tree makes a file system of path, content pairs.
func tree(pairs ...string) search.Dir {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o644}
	}
	return search.FromFS(m)
}

func TestGrep(t *testing.T) {
	t.Parallel()
	project := []string{
		"a.go", "package a\n// Foo here\nfunc foo() {}\n",
		"sub/b.go", "foo\r\nbar\r\n",
		"sub/c.txt", "no newline at the end: foo",
		"sub-x/d.go", "foo",
		".hidden/e.go", "foo\n",
		".env", "foo\n",
		"ignored/f.go", "foo\n",
		"keep.log", "foo\n",
		"x.log", "foo\n",
		".git/config", "foo\n",
		".gitignore", "*.log\n!keep.log\nignored/\n",
		"bin.dat", "foo\x00foo\n",
		"utf16.txt", "\xff\xfef\x00o\x00o\x00",
	}
	for _, tt := range []struct {
		name string
		o    search.GrepOptions
		want []string
	}{
		{"any case, sorted by path", search.GrepOptions{Pattern: "foo"}, []string{
			"/w/a.go:2: // Foo here", "/w/a.go:3: func foo() {}", "/w/keep.log:1: foo",
			"/w/sub-x/d.go:1: foo", "/w/sub/b.go:1: foo", "/w/sub/c.txt:1: no newline at the end: foo",
		}},
		{"case sensitive", search.GrepOptions{Pattern: "Foo", CaseSensitive: true}, []string{"/w/a.go:2: // Foo here"}},
		{"end of line before CRLF", search.GrepOptions{Pattern: "^bar$"}, []string{"/w/sub/b.go:2: bar"}},
		{"literal", search.GrepOptions{Pattern: "foo() {}", Literal: true}, []string{"/w/a.go:3: func foo() {}"}},
		{"leading dash is text", search.GrepOptions{Pattern: "-n|--foo"}, nil},
		{"glob by base name", search.GrepOptions{Pattern: "foo", Glob: "*.txt"}, []string{"/w/sub/c.txt:1: no newline at the end: foo"}},
		{"glob with slash", search.GrepOptions{Pattern: "foo", Glob: "sub/*.go"}, []string{"/w/sub/b.go:1: foo"}},
		{"glob with slash keeps to its depth", search.GrepOptions{Pattern: "foo", Glob: "./*.go"}, []string{"/w/a.go:2: // Foo here", "/w/a.go:3: func foo() {}"}},
		{"negated glob", search.GrepOptions{Pattern: "foo", Glob: "!*.go"}, []string{"/w/keep.log:1: foo", "/w/sub/c.txt:1: no newline at the end: foo"}},
		{"glob that names a hidden directory", search.GrepOptions{Pattern: "foo", Glob: ".hidden/**"}, []string{"/w/.hidden/e.go:1: foo"}},
		{"glob that names a hidden file", search.GrepOptions{Pattern: "foo", Glob: ".env*"}, []string{"/w/.env:1: foo"}},
		{"git directory even by name", search.GrepOptions{Pattern: "foo", Glob: ".git/**"}, nil},
		{"ignore rules off", search.GrepOptions{Pattern: "foo", Glob: "*.log", NoIgnore: true}, []string{"/w/keep.log:1: foo", "/w/x.log:1: foo"}},
		{"hidden on", search.GrepOptions{Pattern: "foo", Glob: "e.go", Hidden: true}, []string{"/w/.hidden/e.go:1: foo"}},
		{"skipped by the caller", search.GrepOptions{Pattern: "foo", Glob: "*.go", Skip: func(p string) bool { return p != "/w/sub/b.go" }}, []string{"/w/sub/b.go:1: foo"}},
		{"ignored from above", search.GrepOptions{Pattern: "foo", Glob: "*.go", Ignore: []search.IgnoreFile{{Dir: "/", Content: []byte("/w/sub\nd.go\n")}}}, []string{"/w/a.go:2: // Foo here", "/w/a.go:3: func foo() {}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.o.Base = "/w"
			got, err := search.Grep(t.Context(), tree(project...), tt.o, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Lines); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGrep_Counts(t *testing.T) {
	t.Parallel()
	dir := tree("a", "x\n", "b", "x\x00", "c", "x\n", "d", "x\nx\n", ".gitignore", "nothing\n")
	got, err := search.Grep(t.Context(), dir, search.GrepOptions{
		Base: "/w", Pattern: "x", MaxTotal: 2, Skip: func(p string) bool { return p == "/w/c" },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := search.GrepResult{Lines: []string{"/w/a:1: x", "/w/d:1: x"}, Total: 3, Files: 2, Binary: 1, Secret: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Omitted() != 1 {
		t.Errorf("Omitted() = %d, want 1", got.Omitted())
	}
}

func TestGrep_Limits(t *testing.T) {
	t.Parallel()
	dir := tree("a", strings.Repeat("hit\n", 30), "b", strings.Repeat("hit\n", 8), "c", "hit\n")
	var all bytes.Buffer
	got, err := search.Grep(t.Context(), dir, search.GrepOptions{Base: "/w", Pattern: "hit", MaxTotal: 15}, &all)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Lines) != 15 || got.Lines[9] != "/w/a:10: hit" || got.Lines[10] != "/w/b:1: hit" || got.Lines[14] != "/w/b:5: hit" {
		t.Errorf("shown %q", got.Lines)
	}
	if got.Total != 39 || got.Files != 3 || got.Truncated || strings.Count(all.String(), "\n") != 39 {
		t.Errorf("total %d, files %d, truncated %v, full list of %d lines", got.Total, got.Files, got.Truncated, strings.Count(all.String(), "\n"))
	}
	if !strings.HasSuffix(all.String(), "/w/b:8: hit\n/w/c:1: hit\n") {
		t.Errorf("full list ends %q", all.String()[max(0, all.Len()-60):])
	}
}

func TestGrep_CutsTheContentOfALine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 199)
	name := strings.Repeat("n", 150)
	var all bytes.Buffer
	dir := tree(name, "x"+long+"\nx"+long+"é\nx\xffy\n")
	got, err := search.Grep(t.Context(), dir, search.GrepOptions{Base: "/w", Pattern: "x"}, &all)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/w/" + name + ":1: x" + long, "/w/" + name + ":2: x" + long + "...", "/w/" + name + ":3: x\ufffdy"}
	if diff := cmp.Diff(want, got.Lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := "/w/" + name + ":2: x" + long + "é\n"; !strings.Contains(all.String(), want) {
		t.Errorf("full list misses %q", want)
	}
}

func TestGrep_LongLines(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("abcdefgh", 1<<17) // 1 MiB
	for _, tt := range []struct {
		name, pattern, content string
		want                   []int
	}{
		{"at the end of 3 MiB", "needle", "first\n" + filler + filler + filler + "needle\nneedle\n", []int{2, 3}},
		{"anchored at the end", "needle$", filler + filler + "needle\r\nneedle x\n", []int{1}},
		{"anchored at the start of the line only", "^abc", filler + filler + "\nxabc\n", []int{1}},
		{"across pieces", "h" + strings.Repeat("abcdefgh", 2) + "é", filler + "abcdefghé" + filler, []int{1}},
		{"200 kB", "needle", filler[:200_000] + "needle\nx\nneedle", []int{1, 3}},
		{"none", "needle", filler + filler + "\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := search.Grep(t.Context(), tree("f", tt.content), search.GrepOptions{Base: "/w", Pattern: tt.pattern}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var lines []int
			for _, l := range got.Lines {
				number, _, _ := strings.Cut(strings.TrimPrefix(l, "/w/f:"), ":")
				lines = append(lines, int(number[0]-'0'))
			}
			if diff := cmp.Diff(tt.want, lines); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGrep_BadPattern(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, pattern, glob, want string }{
		{"regexp", "a(b", "", "bad pattern \"a(b\": error parsing regexp: missing closing ): `a(b`"},
		{"line break", `a\nb`, "", `bad pattern "a\\nb": a line break cannot match: every line is searched on its own`},
		{"glob", "a", "[a", `bad pattern "[a": syntax error in pattern`},
		{"glob outside", "a", "../x", `bad pattern "../x": the pattern must stay below the directory`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := search.Grep(t.Context(), tree(), search.GrepOptions{Base: "/w", Pattern: tt.pattern, Glob: tt.glob}, nil)
			var bad *search.PatternError
			if !errors.As(err, &bad) || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestGrepFile(t *testing.T) {
	t.Parallel()
	dir := tree(".hidden.log", "foo\nbar\n", ".gitignore", "*.log\n")
	got, err := search.GrepFile(t.Context(), dir, ".hidden.log", search.GrepOptions{Base: "/w/d", Pattern: "BAR"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/w/d/.hidden.log:2: bar"}, got.Lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err = search.GrepFile(t.Context(), dir, ".hidden.log", search.GrepOptions{Base: "/w/d", Pattern: "bar", Skip: func(string) bool { return true }}, nil)
	if err != nil || got.Secret != 1 || len(got.Lines) != 0 {
		t.Errorf("skipped file: %+v, %v", got, err)
	}
	if _, err = search.GrepFile(t.Context(), dir, "missing", search.GrepOptions{Base: "/w/d", Pattern: "bar"}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v, want fs.ErrNotExist", err)
	}
}

func TestGrep_Cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("user pressed stop")
	stopper := writerFunc(func(p []byte) (int, error) { cancel(reason); return len(p), nil })
	pairs := []string{}
	for i := range 2000 {
		pairs = append(pairs, strings.Repeat("d/", i%5)+string(rune('a'+i%26))+strings.Repeat("x", i/26), "hit\n")
	}
	_, err := search.Grep(ctx, tree(pairs...), search.GrepOptions{Base: "/w", Pattern: "hit"}, stopper)
	if !errors.Is(err, reason) {
		t.Errorf("error %v, want %v", err, reason)
	}
}

func TestGrep_FullListFails(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	_, err := search.Grep(t.Context(), tree("a", "x\n"), search.GrepOptions{Base: "/w", Pattern: "x"},
		writerFunc(func([]byte) (int, error) { return 0, full }))
	if !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

func TestGrep_MaxBytesEndsTheSearch(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	got, err := search.Grep(t.Context(), tree("a", strings.Repeat("hit\n", 1<<18), "b", strings.Repeat("hit\n", 1<<20)),
		search.GrepOptions{Base: "/w", Pattern: "hit", MaxBytes: 1 << 20}, &all)
	if err != nil || !got.Truncated || all.Len() < 1<<20 || all.Len() > 4<<20 {
		t.Errorf("truncated %v, %d bytes, %v", got.Truncated, all.Len(), err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
