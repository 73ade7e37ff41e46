package search_test

import (
	"errors"
	"testing"

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
