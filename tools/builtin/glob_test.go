package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func globNames() []string { return []string{"glob", "Glob"} }

func project() map[string]string {
	return map[string]string{
		"package.json": "", "app.js": "", "sub/tsconfig.json": "", "sub/util.js": "", "src/index.ts": "", "src/lib/a.ts": "",
		"src/lib/a.tsx": "", "src/Upper/b.ts": "", "src/lib/a_test.go": "", "testdata/x": "", ".github/ci.yml": "",
		"node_modules/react/index.js": "", ".gitignore": "node_modules/\n*.log\n!keep.log\n", "out.log": "", "keep.log": "",
		"sub/.gitignore": "util.js\n", ".git/config": "", "/other/c.ts": "",
	}
}

func TestGlob_Patterns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern string
		want    []string
	}{
		{"**/*.js", []string{"app.js"}},
		{"src/**/*.ts", []string{"src/Upper/b.ts", "src/index.ts", "src/lib/a.ts"}},
		{"*.json", []string{"package.json"}},
		{"**/*.json", []string{"package.json", "sub/tsconfig.json"}},
		{"**/*test*", []string{"src/lib/a_test.go"}},
		{"**/*.{ts,tsx}", []string{"src/Upper/b.ts", "src/index.ts", "src/lib/a.ts", "src/lib/a.tsx"}},
		{"src/[a-z]*/*.ts", []string{"src/lib/a.ts"}},
		{"**/*.log", []string{"keep.log"}},
		{"**/*.yml", nil},
		{".github/*.yml", []string{".github/ci.yml"}},
		{"**/.gitignore", []string{".gitignore", "sub/.gitignore"}},
		{".git/*", nil},
		{"./src/*.ts", []string{"src/index.ts"}},
		{"/test-workspace/src/*.ts", []string{"src/index.ts"}},
		{"/test-workspace/node_modules/**", nil},
		{"../other/*.ts", []string{"/other/c.ts"}},
		{"/other/c.ts", []string{"/other/c.ts"}},
		{"src/index.ts", []string{"src/index.ts"}},
		{"nothing/**", nil},
	}
	under(t, globNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.pattern, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: project(), Limits: &limits})
				key := "filePattern"
				if name == "Glob" {
					key = "pattern"
				}
				result := run(t, rt, name, map[string]any{key: tt.pattern})
				want := []any{}
				for _, file := range tt.want {
					if !strings.HasPrefix(file, "/") {
						file = "/test-workspace/" + file
					}
					want = append(want, file)
				}
				if diff := cmp.Diff(map[string]any{"files": want, "remaining": 0.0}, data(t, result)); diff != "" {
					t.Errorf("data (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// manyFiles are n files whose names sort by number.
func manyFiles(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("f%05d.txt", i)] = ""
	}
	return files
}

func TestGlob_Pages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		files       int
		args        map[string]any
		first, last string
		count       int
		remaining   float64
		truncated   bool
	}{
		{"all", 5, nil, "f00000.txt", "f00004.txt", 5, 0, false},
		{"page", 5, map[string]any{"limit": 2, "offset": 1}, "f00001.txt", "f00002.txt", 2, 2, false},
		{"last page", 5, map[string]any{"limit": 2, "offset": 4}, "f00004.txt", "f00004.txt", 1, 0, false},
		{"past the end", 5, map[string]any{"limit": 2, "offset": 9}, "", "", 0, 0, false},
		{"none asked for", 5, map[string]any{"limit": 0}, "", "", 0, 5, false},
		{"exactly the limit", 1000, nil, "f00000.txt", "f00999.txt", 1000, 0, false},
		{"one over", 1001, nil, "f00000.txt", "f00999.txt", 1000, 1, true},
		{"one over, page asked for", 1001, map[string]any{"limit": 1000}, "f00000.txt", "f00999.txt", 1000, 1, false},
		{"rest", 1001, map[string]any{"offset": 1}, "f00001.txt", "f01000.txt", 1000, 0, false},
		{"more asked for than allowed", 1500, map[string]any{"limit": 5000}, "f00000.txt", "f00999.txt", 1000, 500, true},
	}
	under(t, globNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: manyFiles(tt.files), Limits: &limits})
				args := map[string]any{"filePattern": "*.txt"}
				for key, value := range tt.args {
					args[key] = value
				}
				result := run(t, rt, name, args)
				object := data(t, result)
				files, _ := object["files"].([]any)
				if len(files) != tt.count || object["remaining"] != tt.remaining {
					t.Fatalf("%d files, remaining %v; want %d, %v", len(files), object["remaining"], tt.count, tt.remaining)
				}
				if tt.count > 0 && (files[0] != "/test-workspace/"+tt.first || files[len(files)-1] != "/test-workspace/"+tt.last) {
					t.Errorf("files go from %v to %v, want %s to %s", files[0], files[len(files)-1], tt.first, tt.last)
				}
				head, _ := object["head"].([]any)
				if result.Truncated != tt.truncated || (len(head) > 0) != tt.truncated {
					t.Errorf("truncated = %v with a head of %d, want %v", result.Truncated, len(head), tt.truncated)
				}
				side := rt.Sidecars()
				if !tt.truncated {
					if len(side) > 0 {
						t.Errorf("a sidecar was made")
					}
					return
				}
				if got := strings.Count(side[result.OutputPath], "\n"); got != tt.files {
					t.Errorf("the sidecar lists %d files, want %d", got, tt.files)
				}
				if !strings.Contains(result.ModelText(), result.OutputPath) {
					t.Errorf("the model is not told of %s", result.OutputPath)
				}
			})
		}
	})
}

func TestGlob_Errors(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	tests := []struct {
		name, mention string
		args          map[string]any
	}{
		{"empty", "filePattern must not be empty", map[string]any{"filePattern": ""}},
		{"malformed", "bad pattern", map[string]any{"filePattern": "src/[a"}},
		{"negative", "limit must be a whole number", map[string]any{"filePattern": "*", "limit": -1}},
		{"fraction", "offset must be a whole number", map[string]any{"filePattern": "*", "offset": 1.5}},
		{"directory missing", "ENOENT: no such file or directory '/nowhere'", map[string]any{"filePattern": "/nowhere/*.go"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failure := fail(t, rt, "glob", tt.args)
			if failure.Kind != tools.BadInput || !strings.Contains(failure.Message, tt.mention) {
				t.Errorf("error = %s %q, want one with %q", failure.Kind, failure.Message, tt.mention)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rt.Run(ctx, tool(t, "glob"), "glob", `{"filePattern":"**"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error = %v", err)
	}
}

// What no sidecar can hold is said.
func TestGlob_NoSidecar(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: manyFiles(1001), Quota: -1})
	result := run(t, rt, "glob", map[string]any{"filePattern": "*.txt"})
	if !result.Truncated || result.OutputPath != "" || !strings.Contains(result.ModelText(), "could not be kept: no room") {
		t.Errorf("truncated %v, path %q, text ends %q", result.Truncated, result.OutputPath, result.Text[len(result.Text)-90:])
	}
}

func TestSearch_ResourcesAndKeys(t *testing.T) {
	t.Parallel()
	env := tooltest.New(tooltest.Options{}).Sess.Env
	tests := []struct{ id, args, want string }{
		{"glob", `{"filePattern":"**/*.go"}`, "/test-workspace"},
		{"glob", `{"filePattern":"/test-workspace/src/*.go"}`, "/test-workspace"},
		{"glob", `{"filePattern":"/elsewhere/lib/*.go"}`, "/elsewhere/lib"},
		{"glob", `{"filePattern":"~/lib/*.go"}`, "/home/tester/lib"},
		{"grep", `{"pattern":"x"}`, "/test-workspace"},
		{"grep", `{"pattern":"x","path":"src/a.go"}`, "/test-workspace/src/a.go"},
		{"grep", `{"pattern":"x","glob":"*.go"}`, "/test-workspace"},
		{"grep", `{"pattern":"x","glob":"/elsewhere/*.go"}`, "/elsewhere"},
	}
	for _, tt := range tests {
		found := tool(t, tt.id)
		if diff := cmp.Diff([]tools.Resource{{Kind: tools.PathRead, Value: tt.want}}, found.Resources(tools.NewArgs(tt.args), env)); diff != "" {
			t.Errorf("resources of %s %s (-want +got):\n%s", tt.id, tt.args, diff)
		}
		if diff := cmp.Diff([]tools.ResourceKey{{Key: tt.want, Tree: true}}, found.Profile.Keys(tools.NewArgs(tt.args), env)); diff != "" {
			t.Errorf("keys of %s %s (-want +got):\n%s", tt.id, tt.args, diff)
		}
	}
}
