package workspace

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

// canary stands in every file outside; a call that reads it was led outside.
const canary = "OUTSIDE-CANARY"

// strayingEditor moves the directory while it is at work, as a command in the background
// would, and then does what it was asked.
type strayingEditor struct {
	*fakeEditor
	onRead, onWrite func()
}

func (e *strayingEditor) ReadTextFile(ctx context.Context, path string, line, limit int) (string, error) {
	e.onRead()
	return e.fakeEditor.ReadTextFile(ctx, path, line, limit)
}

func (e *strayingEditor) WriteTextFile(ctx context.Context, path, text string) error {
	e.onWrite()
	return e.fakeEditor.WriteTextFile(ctx, path, text)
}

// TestEditor_LeavesTheRoots swaps the directory of a file for a link out while the editor is at
// work: what it read is not used, and of what it wrote the error says where it went.
func TestEditor_LeavesTheRoots(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a directory that is open cannot be renamed")
	}
	setup := func(t *testing.T) (*fixture, *strayingEditor, func()) {
		e := &strayingEditor{fakeEditor: newEditor(true, true), onRead: func() {}, onWrite: func() {}}
		e.save = true
		g := newFixture(t, func(o *Options) { o.Editor.Files = e })
		put(t, g.in("dir/file"), "inside\n")
		put(t, filepath.Join(g.outside, "file"), canary)
		return g, e, func() {
			if err := os.Rename(g.in("dir"), g.in("dir.away")); err != nil {
				t.Fatal(err)
			}
			link(t, g.outside, g.in("dir"))
		}
	}
	t.Run("read", func(t *testing.T) {
		t.Parallel()
		g, e, swap := setup(t)
		e.onRead = swap
		text, err := g.call(t).FS().ReadText(t.Context(), "dir/file")
		if err == nil || text.Content != "" {
			t.Errorf("read %q, %v", text.Content, err)
		}
	})
	t.Run("lines", func(t *testing.T) {
		t.Parallel()
		g, e, swap := setup(t)
		e.onRead = swap
		text, _, err := g.call(t).FS().ReadLines(t.Context(), "dir/file", 1, 9)
		if err == nil || text != "" {
			t.Errorf("read %q, %v", text, err)
		}
	})
	t.Run("before the write", func(t *testing.T) {
		t.Parallel()
		g, e, swap := setup(t)
		files := g.call(t).FS()
		text, err := files.ReadText(t.Context(), "dir/file")
		if err != nil {
			t.Fatal(err)
		}
		swap()
		toolError(t, files.WriteText(t.Context(), "dir/file", "new\n", &text), tools.Denied)
		if _, writes := e.count(); writes != 0 {
			t.Errorf("%d writes", writes)
		}
	})
	t.Run("in the write", func(t *testing.T) {
		t.Parallel()
		g, e, swap := setup(t)
		e.onWrite = swap
		err := toolError(t, g.call(t).FS().WriteText(t.Context(), "dir/file", "new\n", nil), tools.Backend)
		for _, say := range []string{g.in("dir/file"), filepath.Join(g.outside, "file")} {
			if !strings.Contains(err.Message, say) {
				t.Errorf("%q does not name %s", err.Message, say)
			}
		}
		same(t, "the file itself", get(t, g.in("dir.away/file")), "inside\n")
	})
	t.Run("in a write of a new file", func(t *testing.T) {
		t.Parallel()
		g, e, swap := setup(t)
		e.onWrite = swap
		err := toolError(t, g.call(t).FS().WriteText(t.Context(), "dir/new", "new\n", nil), tools.Backend)
		if want := filepath.Join(g.outside, "new"); !strings.Contains(err.Message, want) {
			t.Errorf("%q does not name %s", err.Message, want)
		}
	})
	t.Run("in an undo", func(t *testing.T) {
		t.Parallel()
		g, e, swap := setup(t)
		c := g.call(t)
		if err := c.FS().WriteText(t.Context(), "dir/file", "new\n", nil); err != nil {
			t.Fatal(err)
		}
		e.onWrite = swap
		_, err := c.Changes().Undo(t.Context(), g.in("dir/file"))
		if err == nil || !strings.Contains(err.Error(), filepath.Join(g.outside, "file")) {
			t.Errorf("undo: %v", err)
		}
	})
}

// TestEditor_HardLink keeps an edit from the other names of a file, which an editor
// that writes in place would change too (P7).
func TestEditor_HardLink(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	e.save = true
	g := newFixture(t, withEditor(e))
	other := put(t, filepath.Join(g.outside, "file"), "old\n")
	if err := os.Link(other, g.in("file")); err != nil {
		testreq.Skip(t, "hard links")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the system does not say how many names a file has")
	}
	files := g.call(t).FS()
	if err := files.WriteText(t.Context(), "file", "new\n", nil); err != nil {
		t.Fatal(err)
	}
	same(t, "the file", get(t, g.in("file")), "new\n")
	same(t, "its other name", get(t, other), "old\n")

	if err := os.Link(g.in("file"), g.in("again")); err != nil {
		t.Fatal(err)
	}
	e.buffers[g.in("file")] = "typed\n"
	toolError(t, files.WriteText(t.Context(), "file", "newer\n", nil), tools.Backend)
	same(t, "the file with unsaved work", get(t, g.in("file")), "new\n")
}
