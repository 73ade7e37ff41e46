package builtin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools/tooltest"
)

func TestRepoOverview(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{
		"README.md": "# x\n", "go.mod": "module x\n", "main.go": "package main\n", "cmd/a/main.go": "package main\n",
		"web/app.ts": "let x\n", "web/package.json": "{}\n", ".github/workflows/ci.yml": "on: push\n",
		".gitignore": "*.log\nbuild/\n", "x.log": "noise\n", "build/out.go": "package out\n", ".env": "KEY=1\n",
	}})
	result := run(t, rt, "repo_overview", map[string]any{})
	want := map[string]any{
		"path": "/test-workspace", "files": 9.0, "directories": 5.0,
		"languages": []any{
			map[string]any{"language": "Go", "files": 2.0, "bytes": 26.0},
			map[string]any{"language": "JSON", "files": 1.0, "bytes": 3.0},
			map[string]any{"language": "Markdown", "files": 1.0, "bytes": 4.0},
			map[string]any{"language": "TypeScript", "files": 1.0, "bytes": 6.0},
			map[string]any{"language": "YAML", "files": 1.0, "bytes": 9.0},
		},
		"keyFiles": []any{"README.md", "go.mod", "web/package.json", ".github/workflows/ci.yml"},
		"tree": strings.Join([]string{
			".github/", "  workflows/", "    ci.yml", "cmd/", "  a/", "    main.go", "web/", "  app.ts", "  package.json",
			".env", ".gitignore", "README.md", "go.mod", "main.go",
		}, "\n"),
	}
	got := data(t, result)
	languages, _ := got["languages"].([]any)
	if first, _ := languages[0].(map[string]any); first["language"] != "Go" {
		t.Errorf("the first language is %v", first)
	}
	byName := func(list any) map[string]any {
		found := map[string]any{}
		for _, l := range list.([]any) {
			found[l.(map[string]any)["language"].(string)] = l
		}
		return found
	}
	if diff := cmp.Diff(byName(want["languages"]), byName(got["languages"])); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
	delete(want, "languages")
	delete(got, "languages")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	for _, part := range []string{"/test-workspace: 9 files in 5 directories", "Go 2 (1 KiB)", "Key files: README.md, go.mod", "web/\n  app.ts"} {
		if !strings.Contains(result.ModelText(), part) {
			t.Errorf("text lacks %q:\n%s", part, result.ModelText())
		}
	}
	if n := rt.Mem.BytesRead(".env") + rt.Mem.BytesRead("main.go"); n != 0 {
		t.Errorf("%d bytes of files were read", n)
	}
}

// A tree that is too large is shown less deep, with counts.
func TestRepoOverview_Bounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{"odd\nname.go": "x\n"}
	for i := range 45 {
		for j := range 10 {
			files[fmt.Sprintf("d%02d/e%02d/f.go", i, j)] = "x\n"
		}
	}
	rt := tooltest.New(tooltest.Options{Files: files})
	result := run(t, rt, "repo_overview", map[string]any{"path": "/test-workspace"})
	tree, _ := data(t, result)["tree"].(string)
	lines := strings.Split(tree, "\n")
	if len(lines) > 200 || lines[0] != "d00/ (10 files)" || lines[40] != "... 5 more directories" {
		t.Errorf("tree of %d lines:\n%s", len(lines), tree)
	}
	if !strings.Contains(lines[len(lines)-1], "odd") {
		t.Errorf("the last line is %q: a name must stay on its line", lines[len(lines)-1])
	}
}

// Files that build the repository are in no language, and what is not known
// counts as one.
func TestRepoOverview_Languages(t *testing.T) {
	t.Parallel()
	files := map[string]string{"main.c": "x\n"}
	for _, name := range []string{
		"go.mod", "go.sum", "go.work", "Makefile", "Dockerfile", "Cargo.lock", "package-lock.json", "pnpm-lock.yaml", "requirements.txt", "LICENSE", ".env",
	} {
		files[name] = "x\n"
	}
	for _, name := range []string{"a.xyz", "b.abc", "c.abc", "d.averylongextension"} {
		files["sub/"+name] = "x\n"
	}
	result := run(t, tooltest.New(tooltest.Options{Files: files}), "repo_overview", map[string]any{})
	want := []any{
		map[string]any{"language": "C", "files": 1.0, "bytes": 2.0},
		map[string]any{"language": "other", "files": 4.0, "bytes": 8.0},
	}
	if diff := cmp.Diff(want, data(t, result)["languages"]); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
}

func TestRepoOverview_Refused(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	if failure := fail(t, rt, "repo_overview", map[string]any{"path": "none"}); !strings.Contains(failure.Message, "ENOENT") {
		t.Errorf("error = %v", failure)
	}
}
