package workspace

import (
	"errors"
	"os"
	"strings"
	"testing"

	"acp-agent/tools"
)

// TestUndo_Editor goes forth and back through the editor: whether it saves what
// it is given or not, and whether it held unsaved work before.
func TestUndo_Editor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		save, dirty bool
		tail        string
		// wantBuffer and wantDisk are what editor and disk hold after the undo.
		wantBuffer, wantDisk string
	}{
		{name: "saves, clean", save: true, wantBuffer: "disk\n", wantDisk: "disk\n"},
		{name: "saves, dirty", save: true, dirty: true, wantBuffer: "unsaved\n", wantDisk: "unsaved\n"},
		{name: "saves and adds to it", save: true, tail: "// formatted", wantBuffer: "disk\n", wantDisk: "disk\n// formatted"},
		{name: "does not save, clean", wantBuffer: "disk\n", wantDisk: "disk\n"},
		{name: "does not save, dirty", dirty: true, wantBuffer: "unsaved\n", wantDisk: "disk\n"},
	}
	for _, tt := range tests {
		for _, how := range []string{"undo", "rollback"} {
			t.Run(tt.name+", "+how, func(t *testing.T) {
				e := newEditor(true, true)
				e.save, e.tail = tt.save, tt.tail
				g := newFixture(t, withEditor(e))
				path := put(t, g.in("file"), "disk\n")
				e.buffers[path] = "disk\n"
				if tt.dirty {
					e.buffers[path] = "unsaved\n"
				}
				c := g.call(t)
				before, err := c.FS().ReadText(t.Context(), "file")
				if err != nil {
					t.Fatal(err)
				}
				if err := c.FS().WriteText(t.Context(), "file", "ours\n", &before); err != nil {
					t.Fatal(err)
				}
				if how == "rollback" {
					if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
						t.Fatal(failed)
					}
				} else {
					change, err := c.Changes().Undo(t.Context(), "file")
					if err != nil {
						t.Fatal(err)
					}
					same(t, "new text", change.New, &before.Content)
				}
				same(t, "buffer", e.buffers[path], tt.wantBuffer)
				same(t, "disk", get(t, path), tt.wantDisk)
				noTemps(t, g)
			})
		}
	}
}

// TestUndo_EditorRefuses lets the user go on typing, or saving, after the
// change: nothing is taken back, in the buffer or on disk.
func TestUndo_EditorRefuses(t *testing.T) {
	t.Parallel()
	for _, saved := range []bool{false, true} {
		e := newEditor(true, true)
		e.save = true
		g := newFixture(t, withEditor(e))
		path := put(t, g.in("file"), "disk\n")
		e.buffers[path] = "disk\n"
		c := g.call(t)
		if err := c.FS().WriteText(t.Context(), "file", "ours\n", nil); err != nil {
			t.Fatal(err)
		}
		e.buffers[path] = "ours\nperson\n"
		if saved {
			put(t, path, "ours\nperson\n")
		}
		disk := get(t, path)
		_, err := c.Changes().Undo(t.Context(), "file")
		toolError(t, err, tools.BadInput)
		same(t, "buffer", e.buffers[path], "ours\nperson\n")
		same(t, "disk", get(t, path), disk)
	}
}

// TestUndo_UnsavedWork covers a change that went to the disk: the user's
// unsaved work on top of it is a change since.
func TestUndo_UnsavedWork(t *testing.T) {
	t.Parallel()
	e := newEditor(true, false)
	g := newFixture(t, withEditor(e))
	path := put(t, g.in("file"), "disk")
	c := g.call(t)
	if err := c.FS().WriteText(t.Context(), "file", "ours", nil); err != nil {
		t.Fatal(err)
	}
	e.buffers[path] = "the user's"
	_, err := c.Changes().Undo(t.Context(), "file")
	toolError(t, err, tools.BadInput)
	same(t, "disk", get(t, path), "ours")
}

func TestUndo_EditorCreated(t *testing.T) {
	t.Parallel()
	for _, save := range []bool{true, false} {
		e := newEditor(true, true)
		e.save = save
		g := newFixture(t, withEditor(e))
		before := tree(t, g.cwd)
		c := g.call(t)
		if err := c.FS().WriteText(t.Context(), "made/new", "ours", nil); err != nil {
			t.Fatal(err)
		}
		failed := g.Rollback(t.Context(), "call_1")
		if save {
			if len(failed) > 0 {
				t.Fatal(failed)
			}
			same(t, "tree", tree(t, g.cwd), before)
			continue
		}
		if len(failed) != 1 || !strings.Contains(failed[0].Error(), "only unsaved in the editor") {
			t.Errorf("failures %v", failed)
		}
	}
}

// TestUndo_EditorInDoubt covers a write that failed, and one of which no one
// knows whether it was made.
func TestUndo_EditorInDoubt(t *testing.T) {
	t.Parallel()
	for _, made := range []bool{false, true} {
		e := newEditor(true, true)
		g := newFixture(t, withEditor(e))
		path := put(t, g.in("file"), "disk")
		e.buffers[path] = "disk"
		e.wrErr = errNoAnswer
		c := g.call(t)
		toolError(t, c.FS().WriteText(t.Context(), "file", "ours", nil), tools.Timeout)
		e.wrErr = nil
		if made {
			e.buffers[path] = "ours"
		}
		if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
			t.Fatal(failed)
		}
		same(t, "buffer", e.buffers[path], "disk")
	}
	e := newEditor(true, true)
	g := newFixture(t, withEditor(e))
	put(t, g.in("file"), "disk")
	e.wrErr = errors.New("read-only")
	c := g.call(t)
	toolError(t, c.FS().WriteText(t.Context(), "file", "ours", nil), tools.Backend)
	_, err := c.Changes().Undo(t.Context(), "file")
	if e := toolError(t, err, tools.BadInput); !strings.Contains(e.Message, "nothing to undo") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(g.in("file")); err != nil {
		t.Error(err)
	}
}
