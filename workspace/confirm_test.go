package workspace

import (
	"context"
	"errors"
	"strings"
	"testing"

	"acp-agent/tools"
)

// changingEditor does something to the file in the middle of a write.
type changingEditor struct {
	*fakeEditor
	onWrite func(path, text string) error
}

func (e *changingEditor) WriteTextFile(_ context.Context, path, text string) error {
	return e.onWrite(path, text)
}

// TestEditor_Confirm looks at what became of a write that the editor answered: one that
// shows nowhere is an error, one that the editor made another text of is reported.
func TestEditor_Confirm(t *testing.T) {
	t.Parallel()
	const old, text = "old\n", "new\n"
	type files struct {
		*fakeEditor
		t *testing.T
	}
	saved := func(as string) func(files, string) {
		return func(f files, path string) { put(f.t, path, as) }
	}
	kept := func(as string) func(files, string) {
		return func(f files, path string) { f.buffers[path] = as }
	}
	tests := []struct {
		name    string
		open    bool // the file has a buffer
		missing bool // it is new
		does    func(files, string)
		readErr error // from the write on
		// fails and remark are what the call says; neither means that all is well.
		fails, remark string
	}{
		{name: "saved", does: saved(text)},
		{name: "saved, open and cannot be read", open: true, does: saved(text), readErr: errors.New("broken")},
		{name: "saved with another line end", does: saved("new\r\n\n")},
		{name: "kept unsaved", open: true, does: kept(text)},
		{name: "kept unsaved, new", missing: true, does: func(f files, path string) { kept(text)(f, path) }},
		{name: "formatted on saving", does: saved("new;\n"), remark: "another text"},
		{name: "formatted in the buffer", open: true, does: kept("new;\n"), remark: "another text"},
		{name: "formatted, new", missing: true, does: saved("new;\n"), remark: "another text"},
		{name: "dropped", does: func(files, string) {}, fails: "are what they were before"},
		{name: "dropped, open", open: true, does: func(files, string) {}, fails: "are what they were before"},
		{name: "dropped, new", missing: true, does: func(files, string) {}, fails: "are what they were before"},
		{name: "dropped, has no text", does: func(files, string) {}, readErr: errNotOpen, fails: "are what they were before"},
		{name: "cannot be read", does: func(files, string) {}, readErr: errors.New("broken"), fails: "could not be checked"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := &changingEditor{fakeEditor: newEditor(true, true)}
			g := newFixture(t, func(o *Options) { o.Editor.Files = e })
			path := g.in("file")
			if !tt.missing {
				put(t, path, old)
			}
			if tt.open {
				e.buffers[path] = old
			}
			e.onWrite = func(path, _ string) error {
				tt.does(files{e.fakeEditor, t}, path)
				e.readErr = tt.readErr
				return nil
			}
			c := g.call(t)
			before, err := c.FS().ReadText(t.Context(), "file")
			if err != nil {
				t.Fatal(err)
			}
			err = c.FS().WriteText(t.Context(), "file", text, &before)
			if tt.fails != "" {
				if failure := toolError(t, err, tools.Backend); !strings.Contains(failure.Message, tt.fails) {
					t.Errorf("error %q does not say %q", failure.Message, tt.fails)
				}
				e.readErr = nil
				if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
					t.Errorf("what was not done cannot be taken back: %v", failed)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(c.Remarks(), "\n"); !strings.Contains(said, tt.remark) || tt.remark == "" && said != "" {
				t.Errorf("the call says %q, want %q", said, tt.remark)
			}
		})
	}
}

// TestEditor_Slow is an editor that answers before it has written.
func TestEditor_Slow(t *testing.T) {
	t.Parallel()
	e := &slowEditor{fakeEditor: newEditor(true, true)}
	g := newFixture(t, func(o *Options) { o.Editor.Files = e })
	put(t, g.in("file"), "old\n")
	c := g.call(t)
	if err := c.FS().WriteText(t.Context(), "file", "new\n", nil); err != nil {
		t.Fatal(err)
	}
	same(t, "buffer", e.buffers[g.in("file")], "new\n")
}

// slowEditor does what it was asked at the second look at the file.
type slowEditor struct {
	*fakeEditor
	path, text string
	looks      int
}

func (e *slowEditor) ReadTextFile(ctx context.Context, path string, line, limit int) (string, error) {
	if e.path != "" {
		if e.looks++; e.looks == 2 {
			e.buffers[e.path] = e.text
		}
	}
	return e.fakeEditor.ReadTextFile(ctx, path, line, limit)
}

func (e *slowEditor) WriteTextFile(_ context.Context, path, text string) error {
	e.path, e.text = path, text
	return nil
}

// TestEditor_ComparesLast lets the user type, and a command write, while the pre-image is
// being kept: nothing of theirs is written over.
func TestEditor_ComparesLast(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(e *fakeEditor, t *testing.T, path string){
		"typed":   func(e *fakeEditor, _ *testing.T, path string) { e.buffers[path] = "typed\n" },
		"saved":   func(_ *fakeEditor, t *testing.T, path string) { put(t, path, "saved\n") },
		"nothing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(true, true)
			var g *fixture
			g = newFixture(t, withEditor(e), func(o *Options) {
				o.fault = func(step string) error {
					if step == "syncimage" && meanwhile != nil {
						e.mu.Lock()
						defer e.mu.Unlock()
						meanwhile(e, t, g.in("file"))
					}
					return nil
				}
			})
			path := put(t, g.in("file"), "old\n")
			if name == "typed" {
				e.buffers[path] = "old\n"
			}
			f := g.call(t).FS()
			before, err := f.ReadText(t.Context(), "file")
			if err != nil {
				t.Fatal(err)
			}
			err = f.WriteText(t.Context(), "file", "ours\n", &before)
			if meanwhile == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, tools.ErrChanged) {
				t.Errorf("error %v", err)
			}
			if _, writes := e.count(); writes != 0 {
				t.Error("the editor was given the text")
			}
		})
	}
}

// TestEditor_Malformed is an answer that cannot be used: the disk is not read in its
// place, for the editor may have unsaved changes.
func TestEditor_Malformed(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	g := newFixture(t, withEditor(e))
	path := put(t, g.in("file"), "disk\n")
	e.buffers[path] = "unsaved\n"
	e.readErr = errors.New("it has no content")
	f := g.call(t).FS()
	for name, do := range map[string]func() error{
		"read":       func() error { _, err := f.ReadText(t.Context(), "file"); return err },
		"read lines": func() error { _, _, err := f.ReadLines(t.Context(), "file", 1, 2); return err },
		"write":      func() error { return f.WriteText(t.Context(), "file", "ours\n", nil) },
		"remove":     func() error { return f.Remove(t.Context(), "file", &tools.Text{Content: "disk\n", Exists: true}) },
		"rename":     func() error { return f.Rename(t.Context(), "file", "other") },
	} {
		if err := toolError(t, do(), tools.Backend); !strings.Contains(err.Message, "it has no content") {
			t.Errorf("%s: %q", name, err.Message)
		}
	}
	same(t, "disk", get(t, path), "disk\n")
}
