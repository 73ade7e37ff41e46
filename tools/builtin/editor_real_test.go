package builtin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/workspace"
)

// buffers is an editor that keeps what it is given and saves nothing.
type buffers struct {
	mu    sync.Mutex
	texts map[string]string
	fault error
}

func (*buffers) CanRead() bool  { return true }
func (*buffers) CanWrite() bool { return true }

func (b *buffers) ReadTextFile(_ context.Context, path string, _, _ int) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text, open := b.texts[path]; open || b.fault != nil {
		return text, b.fault
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}

func (b *buffers) WriteTextFile(_ context.Context, path, content string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.texts[path] = content
	return nil
}

// edited is a call in a real workspace with an editor.
type edited struct{ grounded }

func (e edited) Services() tools.Services { return tools.Services{Changes: e.Changes()} }

func withBuffers(t *testing.T) (rt edited, dir string, editor *buffers) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	editor = &buffers{texts: map[string]string{}}
	w, err := workspace.New(workspace.Options{SessionID: "ses_test", Directories: workspace.Directories{Cwd: dir, State: filepath.Join(t.TempDir(), "state")}, Editor: workspace.Editing{Files: editor}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(0) })
	call := w.Call("call_test", "test", nil)
	t.Cleanup(call.Finish)
	return edited{grounded{call}}, dir, editor
}

// A rename with a change never loses the change in an editor that has not saved
// it: nothing is moved, and the change is taken back.
func TestApplyPatch_RenameUnsaved(t *testing.T) {
	t.Parallel()
	const patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+ONE\n*** End Patch"
	for _, buffer := range []string{"one\ntwo\n", "one\ntwo\ntyped\n"} {
		rt, dir, editor := withBuffers(t)
		path := filepath.Join(dir, "a.txt")
		if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		editor.texts[path] = buffer
		_, err := tool(t, "apply_patch").Run(t.Context(), rt, tools.NewArgs(encode(t, map[string]any{"patch": patch})))
		failure, ok := errors.AsType[*tools.Error](err)
		if !ok || !strings.Contains(failure.Message, "nothing was changed: "+path+" has changes that the editor has not saved") {
			t.Errorf("error = %v", err)
		}
		if diff := cmp.Diff(map[string]string{path: buffer}, editor.texts); diff != "" {
			t.Errorf("buffers (-want +got):\n%s", diff)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != "one\ntwo\n" {
			t.Errorf("a.txt = %q, %v", raw, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "b.txt")); !os.IsNotExist(err) {
			t.Errorf("b.txt is there: %v", err)
		}
	}
}

// What the editor was asked about is not kept, whether it is the user's text or the model's: the
// user may type at any moment, and the disk does not tell (R130, R155).
func TestRead_EditorNotKept(t *testing.T) {
	t.Parallel()
	rt, dir, editor := withBuffers(t)
	path := filepath.Join(dir, "a.txt")
	steps := []struct {
		name         string
		disk, buffer string
		fault        error
		want         string
	}{
		{"they agree", "old\n", "old\n", nil, "old"},
		{"the disk is newer", "by a command\n", "old\n", nil, "by a command"},
		{"the editor has no text", "by a command\n", "", workspace.ErrNoText, "by a command"},
		{"the user types", "by a command\n", "typed\n", nil, "typed"},
	}
	for _, step := range steps {
		if err := os.WriteFile(path, []byte(step.disk), 0o600); err != nil {
			t.Fatal(err)
		}
		editor.texts[path], editor.fault = step.buffer, step.fault
		result, err := tool(t, "read").Run(t.Context(), rt, tools.NewArgs(encode(t, map[string]any{"path": path})))
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if result.Depends != nil || result.ModelText() != "1: "+step.want {
			t.Errorf("%s: depends on %v, text %q", step.name, result.Depends, result.ModelText())
		}
	}
	// A file that no editor has a part in may be kept.
	outside := filepath.Join(rt.Session().Scratch, "note")
	if err := rt.FS().WriteText(t.Context(), outside, "x\n", nil); err != nil {
		t.Fatal(err)
	}
	result, err := tool(t, "read").Run(t.Context(), rt, tools.NewArgs(encode(t, map[string]any{"path": outside})))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{outside}, result.Depends); diff != "" {
		t.Errorf("depends (-want +got):\n%s", diff)
	}
}
