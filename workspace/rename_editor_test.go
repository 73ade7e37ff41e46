package workspace

import (
	"os"
	"testing"

	"acp-agent/tools"
)

// TestRename_Editor changes a file through the editor and moves it: either the
// change arrives under the new name, or nothing is moved and the change can be
// taken back. It is never left behind.
func TestRename_Editor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		read, write bool
		// open files have a buffer; others are read from disk.
		open, save bool
		tail       string
		readErr    error
		// later is the answer to reads after the write.
		later error
		// want is what the disk holds under the new name; "" when nothing moves.
		want string
	}{
		{name: "no editor", want: "new\n"},
		{name: "reads only", read: true, want: "new\n"},
		{name: "reads only, open and stale", read: true, open: true, want: "new\n"},
		{name: "saves", read: true, write: true, save: true, want: "new\n"},
		{name: "saves, open", read: true, write: true, save: true, open: true, want: "new\n"},
		{name: "saves and adds to it", read: true, write: true, save: true, tail: "// formatted\n", want: "new\n// formatted\n"},
		{name: "saves, cannot be read", read: true, write: true, save: true, readErr: errNotOpen, want: "new\n"},
		{name: "does not save, open", read: true, write: true, open: true},
		{name: "does not save", read: true, write: true},
		{name: "does not save, cannot be read later", read: true, write: true, open: true, later: errNotOpen},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEditor(tt.read, tt.write)
			e.save, e.tail, e.readErr = tt.save, tt.tail, tt.readErr
			g := newFixture(t, withEditor(e))
			path := put(t, g.in("a"), "old\n")
			if tt.open {
				e.buffers[path] = "old\n"
			}
			c := g.call(t)
			before, err := c.FS().ReadText(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if err := c.FS().WriteText(t.Context(), "a", "new\n", &before); err != nil {
				t.Fatal(err)
			}
			if tt.later != nil {
				e.readErr = tt.later
			}
			err = c.FS().Rename(t.Context(), "a", "sub/b")
			if tt.want != "" {
				if err != nil {
					t.Fatal(err)
				}
				same(t, "new name", get(t, g.in("sub/b")), tt.want)
				return
			}
			if refused := toolError(t, err, tools.Backend); refused.Path != path {
				t.Errorf("error %+v names another file", refused)
			}
			same(t, "tree", tree(t, g.cwd), map[string]string{"a": "-rw-r--r-- old\n"})
			e.readErr = nil
			if failed := c.Changes().Rollback(t.Context()); len(failed) > 0 {
				t.Fatal(failed)
			}
			if tt.open {
				same(t, "buffer", e.buffers[path], "old\n")
			}
		})
	}
}

// TestRename_Unsaved keeps a file where it is while the user has unsaved work
// in it, and moves it once they saved.
func TestRename_Unsaved(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	g := newFixture(t, withEditor(e))
	path := put(t, g.in("a"), "disk\n")
	e.buffers[path] = "typed\n"
	f := g.call(t).FS()
	toolError(t, f.Rename(t.Context(), "a", "b"), tools.Backend)
	same(t, "old name", get(t, path), "disk\n")
	put(t, path, "typed\n")
	if err := f.Rename(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	same(t, "new name", get(t, g.in("b")), "typed\n")
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the old name is still there: %v", err)
	}
}
