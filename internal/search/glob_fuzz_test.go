package search_test

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/search"
)

// FuzzGlob compares what a glob finds with matching every name on its own. The
// walk leaves out directories in which nothing can match; that must lose none.
func FuzzGlob(f *testing.F) {
	f.Add("**/*.go", "a.go\nb/c.go\nb/d/e.txt")
	f.Add("{a,b}/[a-c]*", "a/b\nb/c.go\nc/a")
	f.Add("*.json", "x.json\nsub/y.json")
	f.Add("a/**/b", "a/b\na/c/b\na/c/d/b\nb")
	f.Add("**", ".h/x\ny")
	f.Add("{*}*", "0/0\na")
	f.Add("{*,a}{*,b}", "0/0\na")
	f.Add(`\*[!x]?`, "*ab\n*xb")
	f.Fuzz(func(t *testing.T, pattern, names string) {
		if len(pattern) > 60 || len(names) > 500 {
			t.Skip("long")
		}
		files := fstest.MapFS{}
		for name := range strings.SplitSeq(names, "\n") {
			if fs.ValidPath(name) && name != "." && !strings.Contains("/"+name+"/", "/.git/") && !strings.ContainsAny(name, "\\\x00") {
				files[name] = &fstest.MapFile{Mode: 0o644}
			}
		}
		for name := range files { // a file cannot be a directory too
			for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
				delete(files, dir)
			}
		}
		got, err := search.Glob(t.Context(), search.FromFS(files), search.GlobOptions{
			Base: "/w", Pattern: pattern, Hidden: true, NoIgnore: true,
		})
		if err != nil {
			if !errors.As(err, new(*search.PatternError)) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if strings.Contains(pattern, "[") && strings.Contains(pattern, "-") {
			t.Skip("a range may hold the slash, which the oracle then takes for a character")
		}
		if path.Clean(pattern) != pattern || strings.HasPrefix(pattern, "/") || !doublestar.ValidatePattern(pattern) {
			t.Skip("a pattern that is brought into form before it is matched")
		}
		var want []string
		for name := range files {
			if ok, _ := doublestar.Match(pattern, name); ok {
				want = append(want, "/w/"+name)
			}
		}
		if strings.Contains(pattern, "*") && emptyAlternative().MatchString(pattern) {
			// The oracle's documentation says that a star matches any sequence and that
			// "some{thing,}" also matches "some". Where a name ends before a star that such a
			// brace follows, it finds no match, so what it does find is compared alone.
			got.Paths = slices.DeleteFunc(got.Paths, func(p string) bool { return !slices.Contains(want, p) })
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, got.Paths); diff != "" && len(want)+len(got.Paths) > 0 {
			t.Errorf("files for %q (-want +got):\n%s", pattern, diff)
		}
	})
}

// emptyAlternative finds an alternative that may stand for nothing: an empty one, or one
// of stars alone.
var emptyAlternative = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[{,]\**[,}]`) })
