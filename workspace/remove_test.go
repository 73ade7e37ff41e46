package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	zoo(t, g.cwd)
	f := g.call(t).FS()
	for _, name := range []string{"text", "binary", ".hidden", "sub/locked", "link", "dangling", "dirlink"} {
		if err := f.Remove(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(g.in(name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	same(t, "where the link led", get(t, g.in("sub/.deep/script")), "#!/bin/sh\n")
	noTemps(t, g)
}

// A link that leads to itself can be locked by its name, and removed.
func TestRemove_LinkToItself(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	link(t, "loop", g.in("loop"))
	f := g.call(t).FS()
	unlock, err := f.Lock(t.Context(), "loop")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := f.Remove(t.Context(), "loop", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(g.in("loop")); !os.IsNotExist(err) {
		t.Errorf("the link is still there: %v", err)
	}
}

// TestRemove_Error names the file that cannot be deleted, and none of our own.
func TestRemove_Error(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) {
		o.fault = func(step string) error {
			if step == "remove" {
				return &os.LinkError{Op: "renameat", Old: "file", New: ".acp-agent-xxx.tmp", Err: syscall.EBUSY}
			}
			return nil
		}
	})
	put(t, g.in("file"), "x")
	err := toolError(t, g.call(t).FS().Remove(t.Context(), "file", nil), tools.Backend)
	same(t, "error", err.Message, "remove '"+g.in("file")+"': "+syscall.EBUSY.Error())
}

// TestReadlink tells where links lead, and follows none.
func TestReadlink(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	zoo(t, g.cwd)
	link(t, g.outside, g.in("out"))
	f := g.call(t).FS()
	want := map[string]string{
		"link": "sub/.deep/script", "dangling": "nowhere", "dirlink": "sub", "out": g.outside,
		"text": "", "sub": "", "dirlink/locked": "", "nope": "", "": "",
	}
	for name, target := range want {
		got, err := f.Readlink(t.Context(), name)
		if err != nil || got != target {
			t.Errorf("Readlink(%q) = %q, %v, want %q", name, got, err, target)
		}
	}
	_, err := f.Readlink(t.Context(), filepath.Join(g.outside, "x"))
	toolError(t, err, tools.Denied)
}

func TestRemove_Refuses(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	zoo(t, g.cwd)
	put(t, filepath.Join(g.outside, "file"), "outside")
	put(t, g.in(".env"), "KEY")
	link(t, g.outside, g.in("outdir"))
	link(t, ".env", g.in("notes"))
	before := tree(t, g.cwd)
	f := g.call(t).FS()
	tests := []struct {
		name, path string
		before     *tools.Text
		kind       tools.ErrorKind
		says       string
	}{
		{"missing", "nope", nil, tools.BadInput, "ENOENT: no such file or directory"},
		{"directory", "sub", nil, tools.BadInput, "is a directory"},
		{"root", "", nil, tools.BadInput, "is a directory"},
		{"outside", filepath.Join(g.outside, "file"), nil, tools.Denied, "outside the session's directories"},
		{"behind a link that leads out", "outdir/file", nil, tools.Denied, "outside the session's directories"},
		{"secret", ".env", nil, tools.BadInput, "secrets"},
		{"link to a secret", "notes", nil, tools.BadInput, "secrets"},
		{"below a file", "text/x", nil, tools.BadInput, "ENOTDIR"},
		{"not what was read", "text", &tools.Text{Content: "other", Exists: true}, tools.Backend, "changed since"},
		{"appeared", "text", &tools.Text{}, tools.Backend, "changed since"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if e := toolError(t, f.Remove(t.Context(), tt.path, tt.before), tt.kind); !strings.Contains(e.Message, tt.says) {
				t.Errorf("error %q does not say %q", e.Message, tt.says)
			}
		})
	}
	same(t, "tree", tree(t, g.cwd), before)
	same(t, "outside", get(t, filepath.Join(g.outside, "file")), "outside")
	same(t, "modified", g.History().Modified("call_1"), []string(nil))
}

// TestRemove_LosesNoSave lets the user save at the moment between the look
// and the removal: what they saved is not removed with the file.
func TestRemove_LosesNoSave(t *testing.T) {
	t.Parallel()
	var g *fixture
	saved := false
	g = newFixture(t, func(o *Options) {
		o.fault = func(step string) error {
			if step == "remove" && !saved {
				saved = true
				return savedOver(g.in("file"), "the user's")
			}
			return nil
		}
	})
	put(t, g.in("file"), "old")
	err := g.call(t).FS().Remove(t.Context(), "file", &tools.Text{Content: "old", Exists: true})
	toolError(t, err, tools.Backend)
	same(t, "content", get(t, g.in("file")), "the user's")
	noTemps(t, g)
}

func TestRemove_Editor(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	g := newFixture(t, withEditor(e))
	path := put(t, g.in("file"), "disk")
	e.buffers[path] = "unsaved"
	f := g.call(t).FS()
	toolError(t, f.Remove(t.Context(), "file", &tools.Text{Content: "disk", Exists: true}), tools.Backend)
	same(t, "content", get(t, path), "disk")
	before, err := f.ReadText(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(t.Context(), "file", &before); err != nil {
		t.Fatal(err)
	}
	same(t, "buffer", e.buffers[path], "unsaved")
	if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
		t.Fatal(failed)
	}
	same(t, "content", get(t, path), "disk")
}

func TestRename(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	zoo(t, g.cwd)
	f := g.call(t).FS()
	if err := f.Rename(t.Context(), "sub/.deep/script", "made/a/tool"); err != nil {
		t.Fatal(err)
	}
	same(t, "content", get(t, g.in("made/a/tool")), "#!/bin/sh\n")
	if info, err := os.Stat(g.in("made/a/tool")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Lstat(g.in("sub/.deep/script")); !os.IsNotExist(err) {
		t.Errorf("the old name is still there: %v", err)
	}
	noTemps(t, g)
}

func TestRename_Refuses(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	zoo(t, g.cwd)
	put(t, g.in(".env"), "KEY")
	before := tree(t, g.cwd)
	f := g.call(t).FS()
	tests := []struct {
		name, from, to string
		kind           tools.ErrorKind
		says           string
	}{
		{"missing", "nope", "new", tools.BadInput, "ENOENT"},
		{"taken", "text", "binary", tools.BadInput, "already exists"},
		{"taken by a link", "text", "dangling", tools.BadInput, "already exists"},
		{"onto itself", "text", "text", tools.BadInput, "already exists"},
		{"a link", "link", "new", tools.BadInput, "is not a regular file"},
		{"a directory", "sub", "new", tools.BadInput, "is a directory"},
		{"a secret", ".env", "new", tools.BadInput, "secrets"},
		{"out", "text", filepath.Join(g.outside, "made/new"), tools.Denied, "outside the session's directories"},
		{"below a file", "text", "binary/made/new", tools.BadInput, "ENOTDIR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if e := toolError(t, f.Rename(t.Context(), tt.from, tt.to), tt.kind); !strings.Contains(e.Message, tt.says) {
				t.Errorf("error %q does not say %q", e.Message, tt.says)
			}
		})
	}
	same(t, "tree", tree(t, g.cwd), before)
}

// TestRename_ByCopy covers systems and pairs of directories where a file cannot
// be renamed without writing over another.
func TestRename_ByCopy(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	path := put(t, g.in("file"), "\x00bytes")
	if err := os.Chmod(path, 0o751); err != nil {
		testreq.Skip(t, "modes")
	}
	f := g.call(t).files()
	err := f.atName(t.Context(), "rename", "file", func(p *place) error {
		info, err := f.movable(p)
		if err != nil {
			return err
		}
		return f.atName(t.Context(), "rename", "new", func(q *place) error { return f.disk.copyTo(p, q, info) })
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "content", get(t, g.in("new")), "\x00bytes")
	if info, err := os.Stat(g.in("new")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the old name is still there: %v", err)
	}
	noTemps(t, g)
}
