package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func editNames() []string { return []string{"edit", "Edit", "edit_file"} }

func TestEdit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		args          map[string]any
		want          string
		wantRange     [2]int
	}{
		{"one place", "a\nb\nc\n", map[string]any{"old_str": "b", "new_str": "B"}, "a\nB\nc\n", [2]int{2, 2}},
		{"other argument names", "a\nb\nc\n", map[string]any{"old_string": "b", "new_string": "B"}, "a\nB\nc\n", [2]int{2, 2}},
		{"every place", "x\ny\nx\n", map[string]any{"old_str": "x", "new_str": "z", "replace_all": true}, "z\ny\nz\n", [2]int{1, 3}},
		{"longer text", "a\nb\nc\n", map[string]any{"old_str": "b\n", "new_str": "b1\nb2\nb3\n"}, "a\nb1\nb2\nb3\nc\n", [2]int{2, 4}},
		{"CRLF stays", "a\r\nb\r\nc\r\n", map[string]any{"old_str": "b\nc", "new_str": "B\nC"}, "a\r\nB\r\nC\r\n", [2]int{2, 3}},
		{"byte order mark and open end stay", "\ufeffa\nb", map[string]any{"old_str": "b", "new_str": "B"}, "\ufeffa\nB", [2]int{2, 2}},
		{"blanks at the end of a line forgiven", "f(a)  \ng(b)\n", map[string]any{"old_str": "f(a)\ng(b)", "new_str": "f(1)\ng(2)"}, "f(1)\ng(2)\n", [2]int{1, 2}},
		{"deletion", "a\nb\nc\n", map[string]any{"old_str": "b\n", "new_str": ""}, "a\nc\n", [2]int{2, 2}},
	}
	under(t, editNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": tt.content}, Limits: &limits})
				args := map[string]any{"path": "/test-workspace/f.txt"}
				for key, value := range tt.args {
					args[key] = value
				}
				result := run(t, rt, name, args)
				if got, _ := rt.Mem.Get("f.txt"); got != tt.want {
					t.Errorf("file = %q, want %q", got, tt.want)
				}
				object := data(t, result)
				if diff := cmp.Diff([]any{float64(tt.wantRange[0]), float64(tt.wantRange[1])}, object["lineRange"]); diff != "" {
					t.Errorf("lineRange (-want +got):\n%s", diff)
				}
				if text, _ := object["diff"].(string); !strings.Contains(text, "@@") || !strings.Contains(text, "a/f.txt") {
					t.Errorf("diff = %q, want a git-style one", text)
				}
				content := []kinds.Content{kinds.Diff{Path: "/test-workspace/f.txt", Old: &tt.content, New: tt.want}}
				if diff := cmp.Diff(content, result.Content); diff != "" {
					t.Errorf("content (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]kinds.Location{{Path: "/test-workspace/f.txt", Line: tt.wantRange[0]}}, result.Locations); diff != "" {
					t.Errorf("locations (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"/test-workspace/f.txt"}, result.TrackFiles); diff != "" {
					t.Errorf("track files (-want +got):\n%s", diff)
				}
				if !strings.HasPrefix(result.ModelText(), fmt.Sprintf("Edited /test-workspace/f.txt, lines %d-%d", tt.wantRange[0], tt.wantRange[1])) {
					t.Errorf("model text = %q", result.ModelText())
				}
			})
		}
	})
}

func TestEdit_Errors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args map[string]any
		want string
	}{
		{"not found", map[string]any{"path": "nope", "old_str": "a", "new_str": "b"}, "file not found. Cannot update a file that doesn't exist."},
		{"exists before differs", map[string]any{"path": "nope", "old_str": "a", "new_str": "a"}, "file not found. Cannot update a file that doesn't exist."},
		{"same", map[string]any{"path": "f.txt", "old_str": "one", "new_str": "one"}, "old_str and new_str must be different"},
		{"differs before matches", map[string]any{"path": "f.txt", "old_str": "zz", "new_str": "zz"}, "old_str and new_str must be different"},
		{"no match", map[string]any{"path": "f.txt", "old_str": "four", "new_str": "x"}, "Could not find exact match for old_str"},
		{
			"many",
			map[string]any{"path": "f.txt", "old_str": "two", "new_str": "x"},
			"found multiple matches for edit (2 occurrences). Use replace_all or provide more context.",
		},
		{
			"many after forgiving",
			map[string]any{"path": "f.txt", "old_str": "if x {\n\ty()\n}", "new_str": "x"},
			"found multiple matches for edit (2 occurrences). Use replace_all or provide more context.",
		},
		{"empty old", map[string]any{"path": "f.txt", "old_str": "", "new_str": "x"}, "old_str must not be empty"},
		{"both empty", map[string]any{"path": "f.txt", "old_str": "", "new_str": ""}, "old_str must not be empty"},
		{"binary", map[string]any{"path": "b.dat", "old_str": "a", "new_str": "b"}, "File appears to be binary and cannot be displayed as text."},
		{"too large", map[string]any{"path": "huge.txt", "old_str": "x", "new_str": "y"}, "File /test-workspace/huge.txt exceeds size limit (1073741824 > 10000000)"},
		{"empty path", map[string]any{"path": "", "old_str": "a", "new_str": "b"}, "edit: path must not be empty"},
		{"directory", map[string]any{"path": "dir", "old_str": "a", "new_str": "b"}, "/test-workspace/dir is not a regular file"},
	}
	files := map[string]string{
		"f.txt": "one\ntwo\nthree two\nif x {\n  y()\n}\nif x {\n    y()\n}\n", "b.dat": "a\x00", "dir/x": "",
	}
	edit := tool(t, "edit")
	under(t, editNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: files, Limits: &limits})
				rt.Mem.PutReader("huge.txt", repeated("x"), 1<<30)
				failure := fail(t, rt, name, tt.args)
				if failure.Kind != tools.BadInput || failure.Message != tt.want {
					t.Errorf("error = %s %q, want %q", failure.Kind, failure.Message, tt.want)
				}
				if writes := rt.Mem.Writes(); len(writes) > 0 {
					t.Errorf("wrote %v", writes)
				}
				// What will fail is not asked about.
				if _, err := edit.Preview(t.Context(), rt, tools.NewArgs(encode(t, tt.args))); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("preview error = %v, want %q", err, tt.want)
				}
			})
		}
	})
}

func TestEdit_HintOfTheNearest(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{
		"f.go": "package f\n\nfunc total(prices []int) int {\n\treturn 0\n}\n",
	}})
	failure := fail(t, rt, "edit", map[string]any{"path": "f.go", "old_str": "func total(price []int) int {", "new_str": "x"})
	if !strings.Contains(failure.Hint, "func total(prices []int) int {") {
		t.Errorf("hint = %q", failure.Hint)
	}
}

// An edit of a secret file would tell what stands in it (P8).
func TestEdit_Secret(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{".env": "TOKEN=abcdef\n"}})
	rt.Mem.Link("notes.txt", ".env")
	for _, path := range []string{".env", "notes.txt", ".env.missing"} {
		for _, old := range []string{"TOKEN", "nothing like it"} {
			args := map[string]any{"path": path, "old_str": old, "new_str": "x"}
			failure := fail(t, rt, "edit", args)
			if failure.Code != "reading-secret-file" || failure.Message != "Refusing to change a file that holds secrets." {
				t.Errorf("%s: error = %+v", path, failure)
			}
			if _, err := tool(t, "edit").Preview(t.Context(), rt, tools.NewArgs(encode(t, args))); err == nil || strings.Contains(err.Error(), "abcdef") {
				t.Errorf("%s: preview error = %v", path, err)
			}
		}
	}
}

// The preview shows what will be and changes nothing; the edit is matched again
// on what the file holds when it runs (R41).
func TestEdit_PreviewThenChange(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": "a\nb\n"}})
	args := map[string]any{"path": "f.txt", "old_str": "b", "new_str": "B"}
	preview, err := tool(t, "edit").Preview(t.Context(), rt, tools.NewArgs(encode(t, args)))
	if err != nil {
		t.Fatal(err)
	}
	old := "a\nb\n"
	if diff := cmp.Diff([]kinds.Content{kinds.Diff{Path: "/test-workspace/f.txt", Old: &old, New: "a\nB\n"}}, preview); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
	if len(rt.Mem.Writes()) > 0 {
		t.Fatal("the preview wrote")
	}
	rt.Mem.Put("f.txt", "new line\na\nb\n")
	run(t, rt, "edit", args)
	if got, _ := rt.Mem.Get("f.txt"); got != "new line\na\nB\n" {
		t.Errorf("file = %q", got)
	}
}

// Another writer between match and write: nothing is lost, and the match is made again
// (R41), but not for ever.
func TestEdit_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		put  func(writes int) string // what the user writes before our n-th write
		want string
		fail string
	}{
		{"once", func(int) string { return "a\nb\nthe user's line\n" }, "a\nB\nthe user's line\n", ""},
		{"the match is gone", func(int) string { return "a\nthe user's line\n" }, "a\nthe user's line\n", "old_str"},
		{"again and again", func(n int) string { return fmt.Sprintf("b %d\n", n) }, "b 5\n", "changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": "a\nb\n"}})
			writes := 0
			rt.Mem.BeforeWrite(func(path string) {
				writes++
				rt.Mem.Put(path, tt.put(writes))
			})
			args := map[string]any{"path": "f.txt", "old_str": "b", "new_str": "B"}
			if tt.fail == "" {
				run(t, rt, "edit", args)
			} else if failure := fail(t, rt, "edit", args); !strings.Contains(failure.Message, tt.fail) {
				t.Errorf("error = %v", failure)
			}
			if got, _ := rt.Mem.Get("f.txt"); got != tt.want {
				t.Errorf("file = %q", got)
			}
		})
	}
}

// Edits of one file that run at once wait for each other: none is lost (R40).
func TestEdit_Concurrent(t *testing.T) {
	t.Parallel()
	const n = 50
	var content strings.Builder
	for i := range n {
		fmt.Fprintf(&content, "slot-%02d = 0\n", i)
	}
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": content.String()}})
	edit := tool(t, "edit")
	var wg sync.WaitGroup
	for i := range n {
		args := encode(t, map[string]any{
			"path": "f.txt", "old_str": fmt.Sprintf("slot-%02d = 0", i), "new_str": fmt.Sprintf("slot-%02d = 1", i),
		})
		wg.Go(func() {
			if _, err := rt.Run(t.Context(), edit, "edit", args); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, _ := rt.Mem.Get("f.txt"); strings.Contains(got, "= 0") {
		t.Errorf("an edit is lost:\n%s", got)
	}
}

// A call that waits for the lock ends when it is cancelled.
func TestEdit_CancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": "a\n"}})
	unlock, err := rt.Mem.Lock(t.Context(), "f.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := rt.Run(ctx, tool(t, "edit"), "edit", `{"path":"f.txt","old_str":"a","new_str":"b"}`)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

// The text in the editor is what is matched, and where the change goes.
func TestEdit_Editor(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": "saved\n"}, Editor: map[string]string{"f.txt": "unsaved\n"}})
	run(t, rt, "edit", map[string]any{"path": "f.txt", "old_str": "unsaved", "new_str": "changed"})
	if got, _ := rt.Mem.Get("f.txt"); got != "changed\n" {
		t.Errorf("file = %q", got)
	}
}
