package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

func grepNames() []string { return []string{"grep", "Grep"} }

// lines is a result's data as an array, or the head of one that was cut.
func lines(t *testing.T, result *tools.Result) []string {
	t.Helper()
	raw := []byte(encode(t, result.Data))
	var array []string
	if json.Unmarshal(raw, &array) == nil {
		return array
	}
	var object struct{ Head []string }
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatalf("data is neither an array nor a head: %s", raw)
	}
	return object.Head
}

func noResults() []string {
	return []string{"No results found.", "If you meant to search for a literal string, run Grep again with literal:true."}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"main.go": "package main\n\nfunc Main() {}\n", "lib/util.go": "package lib\n// TODO: main\n", "lib/a.txt": "Main\r\n",
		"lib/.hidden": "main\n", ".gitignore": "ignored/\n", "ignored/x.go": "main\n", "image.png": "\x89PNG\x00main\n",
		".env": "main=1\n", "braces.txt": "if x {\n-v flag\na.b\n", ".github/ci.yml": "on: main\n", ".git/config": "main\n",
	}
	tests := []struct {
		name string
		args map[string]any
		want []string
	}{
		{"case is ignored", map[string]any{"pattern": "main"}, []string{
			"lib/a.txt:1: Main", "lib/util.go:2: // TODO: main", "main.go:1: package main", "main.go:3: func Main() {}",
		}},
		{"case matters", map[string]any{"pattern": "Main", "caseSensitive": true}, []string{"lib/a.txt:1: Main", "main.go:3: func Main() {}"}},
		{"glob by name at any depth", map[string]any{"pattern": "main", "glob": "*.go"}, []string{
			"lib/util.go:2: // TODO: main", "main.go:1: package main", "main.go:3: func Main() {}",
		}},
		{"glob with directory", map[string]any{"pattern": "main", "glob": "lib/*.go"}, []string{"lib/util.go:2: // TODO: main"}},
		{"absolute glob", map[string]any{"pattern": "main", "glob": "/test-workspace/*.go"}, []string{"main.go:1: package main", "main.go:3: func Main() {}"}},
		{"directory", map[string]any{"pattern": "main", "path": "lib"}, []string{"lib/a.txt:1: Main", "lib/util.go:2: // TODO: main"}},
		{"file", map[string]any{"pattern": "main", "path": "/test-workspace/main.go"}, []string{"main.go:1: package main", "main.go:3: func Main() {}"}},
		{"hidden file by name", map[string]any{"pattern": "main", "path": "lib/.hidden"}, []string{"lib/.hidden:1: main"}},
		{"hidden directory by name", map[string]any{"pattern": "main", "path": ".github"}, []string{".github/ci.yml:1: on: main"}},
		{"ignored file by name", map[string]any{"pattern": "main", "path": "ignored/x.go"}, []string{"ignored/x.go:1: main"}},
		{"file through a link", map[string]any{"pattern": "main", "path": "link.go"}, []string{"main.go:1: package main", "main.go:3: func Main() {}"}},
		{"regular expression", map[string]any{"pattern": `^func \w+\(`}, []string{"main.go:3: func Main() {}"}},
		{"escaped brace", map[string]any{"pattern": `x \{`}, []string{"braces.txt:1: if x {"}},
		{"literal", map[string]any{"pattern": "x {", "literal": true}, []string{"braces.txt:1: if x {"}},
		{"literal dot", map[string]any{"pattern": "a.b", "literal": true}, []string{"braces.txt:3: a.b"}},
		{"not a flag", map[string]any{"pattern": "-v"}, []string{"braces.txt:2: -v flag"}},
		{"nothing", map[string]any{"pattern": "zzz"}, nil},
		{"nothing in the glob", map[string]any{"pattern": "main", "glob": "*.rs"}, nil},
	}
	under(t, grepNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: files, Limits: &limits})
				rt.Mem.Link("link.go", "main.go")
				result := run(t, rt, name, tt.args)
				want := noResults()
				if tt.want != nil {
					want = nil
				}
				for _, line := range tt.want {
					want = append(want, "/test-workspace/"+line)
				}
				if diff := cmp.Diff(want, lines(t, result)); diff != "" {
					t.Errorf("data (-want +got):\n%s", diff)
				}
				if result.Truncated || len(rt.Sidecars()) > 0 {
					t.Errorf("truncated = %v, %d sidecars", result.Truncated, len(rt.Sidecars()))
				}
				if !strings.HasPrefix(result.ModelText(), strings.Join(want, "\n")) {
					t.Errorf("model text = %q", result.ModelText())
				}
			})
		}
	})
}

func TestGrep_Errors(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{".env": "KEY=1\n", "a.txt": "KEY\n"}})
	rt.Mem.Link("notes.txt", ".env")
	tests := []struct {
		name, mention string
		args          map[string]any
	}{
		{"bad expression", "bad pattern", map[string]any{"pattern": "a(b"}},
		{"bad glob", "bad pattern", map[string]any{"pattern": "a", "glob": "[a"}},
		{"empty", "pattern must not be empty", map[string]any{"pattern": ""}},
		{"missing", "ENOENT: no such file or directory '/test-workspace/nope'", map[string]any{"pattern": "a", "path": "nope"}},
		{"secret", "Reading secrets is not permitted.", map[string]any{"pattern": "KEY", "path": ".env"}},
		{"secret through a link", "Reading secrets is not permitted.", map[string]any{"pattern": "KEY", "path": "notes.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failure := fail(t, rt, "grep", tt.args)
			if failure.Kind != tools.BadInput || !strings.Contains(failure.Message, tt.mention) {
				t.Errorf("error = %s %q, want one with %q", failure.Kind, failure.Message, tt.mention)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rt.Run(ctx, tool(t, "grep"), "grep", `{"pattern":"x"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error = %v", err)
	}
}

// Secret files that are named by a glob are passed over, and that is said.
func TestGrep_SecretsPassedOver(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{".env": "KEY=1\n", "key.pem": "KEY\n"}})
	result := run(t, rt, "grep", map[string]any{"pattern": "KEY", "glob": ".env*"})
	if diff := cmp.Diff(noResults(), lines(t, result)); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(result.ModelText(), "[1 files that hold secrets were not searched]") {
		t.Errorf("model text = %q", result.ModelText())
	}
}

func TestGrep_Limits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", builtin.GrepLine)
	under(t, grepNames(), func(t *testing.T, limits tools.Limits, name string) {
		t.Run("line length", func(t *testing.T) {
			rt := tooltest.New(tooltest.Options{Limits: &limits, Files: map[string]string{"exact": long + "\n", "over": long + "y\n", "wide": strings.Repeat("é", builtin.GrepLine+1)}})
			want := []string{
				"/test-workspace/exact:1: " + long, "/test-workspace/over:1: " + long + "...",
				"/test-workspace/wide:1: " + strings.Repeat("é", builtin.GrepLine) + "...",
			}
			if diff := cmp.Diff(want, lines(t, run(t, rt, name, map[string]any{"pattern": "x|é"}))); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
		t.Run("hits in a file", func(t *testing.T) {
			rt := tooltest.New(tooltest.Options{Limits: &limits, Files: map[string]string{"ten": strings.Repeat("hit\n", 10)}})
			if result := run(t, rt, name, map[string]any{"pattern": "hit"}); result.Truncated || len(lines(t, result)) != builtin.GrepPerFile {
				t.Errorf("ten hits: truncated %v, %d lines", result.Truncated, len(lines(t, result)))
			}
			rt.Mem.Put("ten", strings.Repeat("hit\n", 11))
			result := run(t, rt, name, map[string]any{"pattern": "hit"})
			if !result.Truncated || len(lines(t, result)) != builtin.GrepPerFile {
				t.Errorf("eleven hits: truncated %v, %d lines", result.Truncated, len(lines(t, result)))
			}
			if got := strings.Count(rt.Sidecars()[result.OutputPath], "hit"); got != 11 {
				t.Errorf("the sidecar holds %d hits, want 11", got)
			}
		})
		t.Run("hits in all", func(t *testing.T) {
			for _, extra := range []int{0, 1} {
				files := map[string]string{}
				for i := range limits.GrepTotal + extra {
					files[fmt.Sprintf("f%04d", i)] = "hit " + strings.Repeat("z", 3000) + "\n"
				}
				rt := tooltest.New(tooltest.Options{Limits: &limits, Files: files})
				result := run(t, rt, name, map[string]any{"pattern": "hit"})
				got := lines(t, result)
				if len(got) != limits.GrepTotal || result.Truncated != (extra > 0) {
					t.Fatalf("%d over: %d lines, truncated %v", extra, len(got), result.Truncated)
				}
				if extra == 0 {
					continue
				}
				if _, isHead := data(t, result)["head"]; !isHead {
					t.Errorf("data = %T, want an object with head", result.Data)
				}
				whole := rt.Sidecars()[result.OutputPath]
				if strings.Count(whole, "hit") != limits.GrepTotal+1 || !strings.Contains(whole, strings.Repeat("z", 3000)) {
					t.Errorf("the sidecar does not hold every hit whole")
				}
				want := fmt.Sprintf("[%d of %d hits in %d files; the whole list is in %s]", limits.GrepTotal, limits.GrepTotal+1, limits.GrepTotal+1, result.OutputPath)
				if !strings.HasSuffix(result.ModelText(), want) {
					t.Errorf("model text does not end with %q", want)
				}
			}
		})
	})
}
