package builtin_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func writeNames() []string { return []string{"write", "create_file"} }

func TestWrite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, content string
		wantPath, want      string
		wantMessage         string
	}{
		{"new", "new.txt", "hello", "/test-workspace/new.txt", "hello\n", "Successfully created file /test-workspace/new.txt"},
		{"newline there", "new.txt", "hello\n", "/test-workspace/new.txt", "hello\n", "Successfully created file /test-workspace/new.txt"},
		{"empty stays empty", "new.txt", "", "/test-workspace/new.txt", "", "Successfully created file /test-workspace/new.txt"},
		{"parents", "a/b/c.txt", "x", "/test-workspace/a/b/c.txt", "x\n", "Successfully created file /test-workspace/a/b/c.txt"},
		{"absolute", "/test-workspace/abs.txt", "x", "/test-workspace/abs.txt", "x\n", "Successfully created file /test-workspace/abs.txt"},
		{"home", "~/h.txt", "x", "/home/tester/h.txt", "x\n", "Successfully created file /home/tester/h.txt"},
		{"overwrite", "old.txt", "b", "/test-workspace/old.txt", "b\n", "Successfully overwrote file /test-workspace/old.txt"},
		{"overwrite with nothing", "old.txt", "", "/test-workspace/old.txt", "", "Successfully overwrote file /test-workspace/old.txt"},
	}
	under(t, writeNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: map[string]string{"old.txt": "a\n"}, Limits: &limits})
				result := run(t, rt, name, map[string]any{"path": tt.path, "content": tt.content})
				if got, ok := rt.Mem.Get(tt.wantPath); got != tt.want || !ok {
					t.Errorf("file = %q, %v; want %q", got, ok, tt.want)
				}
				if diff := cmp.Diff(tt.wantMessage, result.Data); diff != "" {
					t.Errorf("data (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.wantMessage, result.ModelText()); diff != "" {
					t.Errorf("model text (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{tt.wantPath}, result.TrackFiles); diff != "" {
					t.Errorf("track files (-want +got):\n%s", diff)
				}
				if writes := rt.Mem.Writes(); len(writes) != 1 {
					t.Errorf("writes = %v, want one", writes)
				}
			})
		}
	})
}

func TestWrite_Card(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"old.txt": "a\n"}})
	old := "a\n"
	tests := []struct {
		name string
		args map[string]any
		want []kinds.Content
	}{
		{"new file", map[string]any{"path": "new.txt", "content": "x"}, []kinds.Content{kinds.Diff{Path: "/test-workspace/new.txt", New: "x\n"}}},
		{"old file", map[string]any{"path": "old.txt", "content": "b"}, []kinds.Content{kinds.Diff{Path: "/test-workspace/old.txt", Old: &old, New: "b\n"}}},
		{"secret", map[string]any{"path": ".env", "content": "KEY=1"}, []kinds.Content{
			kinds.Text{Text: "The text of a file that holds secrets is not shown."},
		}},
	}
	write := tool(t, "write")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			preview, err := write.Preview(t.Context(), rt, tools.NewArgs(encode(t, tt.args)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, preview); diff != "" {
				t.Errorf("preview (-want +got):\n%s", diff)
			}
			if writes := rt.Mem.Writes(); len(writes) > 0 {
				t.Fatalf("the preview wrote %v", writes)
			}
			own := tooltest.New(tooltest.Options{Files: map[string]string{"old.txt": "a\n"}})
			result := run(t, own, "write", tt.args)
			if diff := cmp.Diff(tt.want, result.Content); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrite_Errors(t *testing.T) {
	t.Parallel()
	limits := tools.CanonicalLimits()
	limits.FileBytes = 100
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"dir/x": "", ".env": "KEY=1\n"}, Limits: &limits})
	rt.Mem.Fail(tooltest.OpWrite, "full.txt", fmt.Errorf("no space left on device"))
	rt.Mem.Fail(tooltest.OpStat, "odd.txt", fmt.Errorf("stat: %w", fs.ErrPermission))
	tests := []struct {
		name, path, content string
		kind                tools.ErrorKind
		want                string
	}{
		{"too large", "a.txt", strings.Repeat("x", 100), tools.BadInput, "File /test-workspace/a.txt exceeds size limit (101 > 100)"},
		{"directory", "dir", "x", tools.BadInput, "write: /test-workspace/dir is a directory"},
		{"secret", ".env", "x", tools.BadInput, "Refusing to change a file that holds secrets."},
		{"empty path", "", "x", tools.BadInput, "write: path must not be empty"},
		{"disk full", "full.txt", "x", tools.Backend, "write /test-workspace/full.txt: no space left on device"},
		{"not readable", "odd.txt", "x", tools.Backend, "write /test-workspace/odd.txt: stat: permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failure := fail(t, rt, "write", map[string]any{"path": tt.path, "content": tt.content})
			if failure.Kind != tt.kind || failure.Message != tt.want {
				t.Errorf("error = %s %q, want %s %q", failure.Kind, failure.Message, tt.kind, tt.want)
			}
		})
	}
	if writes := rt.Mem.Writes(); len(writes) > 0 {
		t.Errorf("wrote %v", writes)
	}
}

// A file that is too large to show is replaced all the same (R35).
func TestWrite_ReplacesWhatCannotBeShown(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	rt.Mem.PutReader("huge.txt", repeated("x"), 1<<30)
	result := run(t, rt, "write", map[string]any{"path": "huge.txt", "content": "small"})
	if got, _ := rt.Mem.Get("huge.txt"); got != "small\n" {
		t.Errorf("file = %q", got)
	}
	if _, isText := result.Content[0].(kinds.Text); !isText {
		t.Errorf("content = %+v, want a text in place of the diff", result.Content)
	}
}

func TestWrite_Guidance(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"AGENTS.md": "", "pkg/CLAUDE.md": "", "pkg/sub/CONTEXT.md": "", "pkg/sub/AGENTS.md": "", "other/AGENTS.md": "",
		"/outside/AGENTS.md": "",
	}
	tests := []struct {
		name, path string
		loaded     []string
		want       []string
	}{
		{"nearest first", "pkg/sub/new.go", nil, []string{
			"/test-workspace/pkg/sub/AGENTS.md", "/test-workspace/pkg/sub/CONTEXT.md", "/test-workspace/pkg/CLAUDE.md", "/test-workspace/AGENTS.md",
		}},
		{"loaded ones left out", "pkg/new.go", []string{"/test-workspace/AGENTS.md"}, []string{"/test-workspace/pkg/CLAUDE.md"}},
		{"all loaded", "new.go", []string{"/test-workspace/AGENTS.md"}, nil},
		{"the file itself", "fresh/AGENTS.md", []string{"/test-workspace/AGENTS.md"}, nil},
		{"link to a loaded one", "linked/new.go", []string{"/test-workspace/AGENTS.md"}, nil},
		{"outside the roots", "/outside/new.go", nil, nil},
		{"new directory", "fresh/deep/new.go", nil, []string{"/test-workspace/AGENTS.md"}},
	}
	under(t, writeNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: files, Guidance: tt.loaded, Limits: &limits})
				rt.Mem.Link("linked/CLAUDE.md", "AGENTS.md")
				result := run(t, rt, name, map[string]any{"path": tt.path, "content": "x"})
				if tt.want == nil {
					if _, plain := result.Data.(string); !plain {
						t.Errorf("data = %+v, want the message alone", result.Data)
					}
					return
				}
				var want []any
				for _, file := range tt.want {
					want = append(want, file)
					if !strings.Contains(result.ModelText(), file) {
						t.Errorf("the model is not told of %s", file)
					}
				}
				object := data(t, result)
				if diff := cmp.Diff(want, object["discoveredGuidanceFiles"]); diff != "" {
					t.Errorf("discoveredGuidanceFiles (-want +got):\n%s", diff)
				}
				if message, _ := object["message"].(string); !strings.HasPrefix(message, "Successfully created file ") {
					t.Errorf("message = %q", message)
				}
			})
		}
	})
}
