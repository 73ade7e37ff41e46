package search_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/search"
)

func TestGlob(t *testing.T) {
	t.Parallel()
	project := []string{
		"a.json", "", "b.js", "", "src/a.ts", "", "src/x/b.ts", "", "src/x/B.ts", "", "src-gen/c.ts", "",
		"test/deep/my_test.go", "", ".github/ci.yml", "", ".env", "", ".git/HEAD", "",
		"node_modules/p/index.js", "", "out/gen.js", "", "out/keep.js", "",
		".gitignore", "node_modules/\nout/*\n!out/keep.js\n",
		"src/.gitignore", "B.ts\n",
	}
	for _, tt := range []struct {
		name string
		o    search.GlobOptions
		want []string
	}{
		{"any depth", search.GlobOptions{Pattern: "**/*.js"}, []string{"/w/b.js", "/w/out/keep.js"}},
		{"below a directory", search.GlobOptions{Pattern: "src/**/*.ts"}, []string{"/w/src/a.ts", "/w/src/x/b.ts"}},
		{"this directory only", search.GlobOptions{Pattern: "*.json"}, []string{"/w/a.json"}},
		{"this directory only, none", search.GlobOptions{Pattern: "*.ts"}, nil},
		{"part of a name", search.GlobOptions{Pattern: "**/*test*"}, []string{"/w/test/deep/my_test.go"}},
		{"alternatives", search.GlobOptions{Pattern: "**/*.{js,json}"}, []string{"/w/a.json", "/w/b.js", "/w/out/keep.js"}},
		{"alternatives of different depth", search.GlobOptions{Pattern: "{a.json,src/x/b.ts}"}, []string{"/w/a.json", "/w/src/x/b.ts"}},
		{"set", search.GlobOptions{Pattern: "s[a-z]*/*.ts"}, []string{"/w/src-gen/c.ts", "/w/src/a.ts"}},
		{"everything, in the order of bytes", search.GlobOptions{Pattern: "**"}, []string{
			"/w/a.json", "/w/b.js", "/w/out/keep.js", "/w/src-gen/c.ts", "/w/src/a.ts", "/w/src/x/b.ts", "/w/test/deep/my_test.go",
		}},
		{"hidden by name", search.GlobOptions{Pattern: ".github/*"}, []string{"/w/.github/ci.yml"}},
		{"hidden in an alternative", search.GlobOptions{Pattern: "{.env,a.json}"}, []string{"/w/.env", "/w/a.json"}},
		{"a dot inside a name is not hidden", search.GlobOptions{Pattern: "*{.env,.json}"}, []string{"/w/a.json"}},
		{"git directory even by name", search.GlobOptions{Pattern: ".git/*"}, nil},
		{"absolute below the base", search.GlobOptions{Pattern: "/w/src/*.ts"}, []string{"/w/src/a.ts"}},
		{"leading ./", search.GlobOptions{Pattern: "./*.js"}, []string{"/w/b.js"}},
		{"ignore rules off", search.GlobOptions{Pattern: "out/*", NoIgnore: true}, []string{"/w/out/gen.js", "/w/out/keep.js"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.o.Base = "/w"
			got, err := search.Glob(t.Context(), tree(project...), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(search.GlobResult{Paths: tt.want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGlob_MaxResults(t *testing.T) {
	t.Parallel()
	got, err := search.Glob(t.Context(), tree("a", "", "b", "", "c", ""), search.GlobOptions{Base: "/w", Pattern: "*", MaxResults: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(search.GlobResult{Paths: []string{"/w/a", "/w/b"}, Truncated: true}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err = search.Glob(t.Context(), tree("a", "", "b", ""), search.GlobOptions{Base: "/", Pattern: "*", MaxResults: 2})
	if err != nil || got.Truncated || len(got.Paths) != 2 || got.Paths[0] != "/a" {
		t.Errorf("exactly at the limit: %+v, %v", got, err)
	}
}

func TestGlob_BadPattern(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"[a", "{a", "../x", "a/../../x", "/other/x", ".."} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			_, err := search.Glob(t.Context(), tree(), search.GlobOptions{Base: "/w", Pattern: pattern})
			if !errors.As(err, new(*search.PatternError)) {
				t.Errorf("error %v, want a PatternError", err)
			}
		})
	}
}

// TestGlob_PatternHasASize holds that a pattern which would take long is refused with
// the limit, and that a large one that is not comes to an end.
func TestGlob_PatternHasASize(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{strings.Repeat("a", 200) + "/" + strings.Repeat("a", 200): {Mode: 0o644}}
	for _, tt := range []struct{ name, pattern, want string }{
		{"nested braces", strings.Repeat("{", 15000) + "a" + strings.Repeat("}", 15000), "longer than 4096 bytes"},
		{"deep braces", strings.Repeat("{", 17) + "a" + strings.Repeat("}", 17), "16 braces within one another"},
		{"many alternatives", strings.Repeat("{a,b}", 9), "more than 256 patterns"},
		{"many at once", "{" + strings.Repeat("a,", 256) + "a}", "more than 256 patterns"},
		{"open brace", "{a,b", "syntax error"},
		{"many stars", strings.Repeat("*{a,b}", 8) + "c", ""},
		{"many stars alone", strings.Repeat("*a", 2000) + "b", ""},
		{"many double stars", strings.Repeat("**/", 1300) + "b", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := search.Glob(t.Context(), search.FromFS(files), search.GlobOptions{Base: "/w", Pattern: tt.pattern})
			switch bad := new(*search.PatternError); {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (!errors.As(err, bad) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}
