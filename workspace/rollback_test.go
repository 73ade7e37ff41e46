package workspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

// tree is everything below a directory: mode and bytes, or where a link leads.
func tree(t interface{ Fatal(...any) }, dir string) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch mode := info.Mode(); {
		case mode.IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found[rel] = mode.String() + " " + string(b)
		case mode&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			found[rel] = "-> " + to
		default:
			found[rel] = mode.String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// zoo puts one of each kind of file into a directory.
func zoo(t *testing.T, dir string) {
	t.Helper()
	put(t, filepath.Join(dir, "text"), "one\ntwo\n")
	put(t, filepath.Join(dir, "binary"), "\x00\xff\xfe\x01")
	put(t, filepath.Join(dir, "empty"), "")
	put(t, filepath.Join(dir, ".hidden"), "dot\r\n")
	put(t, filepath.Join(dir, "sub/.deep/script"), "#!/bin/sh\n")
	put(t, filepath.Join(dir, "sub/locked"), "read only")
	for name, mode := range map[string]os.FileMode{"sub/.deep/script": 0o755, "sub/locked": 0o400, "binary": 0o640} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	link(t, "sub/.deep/script", filepath.Join(dir, "link"))
	link(t, "nowhere", filepath.Join(dir, "dangling"))
	link(t, "sub", filepath.Join(dir, "dirlink"))
}

// doing draws one change and makes it. What is refused is not a change.
func doing(ctx context.Context, t *rapid.T, f tools.FS) {
	names := rapid.SampledFrom([]string{
		"text", "binary", "empty", ".hidden", "sub/.deep/script", "sub/locked", "link", "dangling", "dirlink/locked",
		"new", ".new", "made/a/new", "made/b", "made/a/other", "sub/new",
	})
	path := names.Draw(t, "path")
	switch rapid.SampledFrom([]string{"write", "edit", "remove", "rename"}).Draw(t, "what") {
	case "write":
		_ = f.WriteText(ctx, path, rapid.StringMatching(`[a-c\n]{0,4}`).Draw(t, "text"), nil)
	case "edit":
		if before, err := f.ReadText(ctx, path); err == nil {
			_ = f.WriteText(ctx, path, before.Content+"+", &before)
		}
	case "remove":
		_ = f.Remove(ctx, path, nil)
	case "rename":
		_ = f.Rename(ctx, path, names.Draw(t, "to"))
	}
}

// TestRollback_RestoresTheTree is R127's promise: whatever two operations did,
// rolling them back leaves the tree byte for byte and mode for mode as it was.
func TestRollback_RestoresTheTree(t *testing.T) {
	t.Parallel()
	testdir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		top, err := os.MkdirTemp(testdir, "")
		if err != nil {
			rt.Fatal(err)
		}
		cwd := filepath.Join(top, "work")
		if err := os.Mkdir(cwd, 0o755); err != nil {
			rt.Fatal(err)
		}
		zoo(t, cwd)
		w, err := New(Options{SessionID: "s", Directories: Directories{Cwd: cwd, State: filepath.Join(top, "state")}})
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Close(0)
		operations := []string{"call_1", "call_2"}
		var states []map[string]string
		for _, id := range operations {
			states = append(states, tree(rt, cwd))
			c := w.Call(id, "write", nil)
			for range rapid.IntRange(1, 8).Draw(rt, "changes") {
				doing(t.Context(), rt, c.FS())
			}
			c.Finish()
		}
		for i := len(operations) - 1; i >= 0; i-- {
			if failed := w.Rollback(t.Context(), operations[i]); len(failed) > 0 {
				rt.Fatal(failed)
			}
			if diff := cmp.Diff(states[i], tree(rt, cwd)); diff != "" {
				rt.Fatalf("after the rollback of %s (-want +got):\n%s", operations[i], diff)
			}
			if left := w.History().Modified(operations[i]); len(left) > 0 {
				rt.Fatalf("%s still counts as having modified %v", operations[i], left)
			}
		}
		images, err := os.ReadDir(filepath.Join(w.private.Path(), "journal"))
		if err == nil && len(images) > 0 {
			rt.Fatalf("pre-images were left: %v", images)
		}
	})
}

// TestChanges_Faults makes each step of each change fail in turn: the tree is
// as before, or as after, and never a third thing; and what was recorded can be
// rolled back.
func TestChanges_Faults(t *testing.T) {
	t.Parallel()
	changes := map[string]func(context.Context, tools.FS) error{
		"create": func(ctx context.Context, f tools.FS) error { return f.WriteText(ctx, "made/a/new", "x", nil) },
		"modify": func(ctx context.Context, f tools.FS) error {
			return f.WriteText(ctx, "text", "x", &tools.Text{Content: "one\ntwo\n", Exists: true})
		},
		"overwrite":   func(ctx context.Context, f tools.FS) error { return f.WriteText(ctx, "binary", "x", nil) },
		"remove":      func(ctx context.Context, f tools.FS) error { return f.Remove(ctx, "sub/.deep/script", nil) },
		"remove link": func(ctx context.Context, f tools.FS) error { return f.Remove(ctx, "link", nil) },
		"rename":      func(ctx context.Context, f tools.FS) error { return f.Rename(ctx, "binary", "made/b/c") },
	}
	steps := []string{"preimage", "syncimage", "mkdir", "create", "write", "chmod", "sync", "rename", "remove", "link", "syncdir"}
	for name, change := range changes {
		for _, step := range testreq.Pick(6, steps) {
			t.Run(name+" "+step, func(t *testing.T) {
				var failing bool
				g := newFixture(t, func(o *Options) {
					o.fault = func(s string) error {
						if failing && s == step {
							return &os.PathError{Op: s, Path: "x", Err: syscall.EIO}
						}
						return nil
					}
				})
				zoo(t, g.cwd)
				before := tree(t, g.cwd)
				failing = true
				err := change(t.Context(), g.call(t).FS())
				if err != nil {
					toolError(t, err, tools.Backend)
					same(t, "tree after the failure", tree(t, g.cwd), before)
					same(t, "modified", g.History().Modified("call_1"), []string(nil))
					failing = false
					if err := change(t.Context(), g.call(t).FS()); err != nil {
						t.Fatal(err)
					}
				}
				noTemps(t, g)
				after := tree(t, g.cwd)
				failing = true
				if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
					same(t, "tree after the failed rollback", tree(t, g.cwd), after)
				}
				failing = false
				if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
					t.Fatal(failed)
				}
				same(t, "tree after the rollback", tree(t, g.cwd), before)
				noTemps(t, g)
			})
		}
	}
}

// TestRollback_OneFails changes one of three files without the operation:
// that one is kept, the others are restored.
func TestRollback_OneFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		meddle func(path string) error
		want   string
	}{
		{"edited", func(path string) error { return os.WriteFile(path, []byte("the user's"), 0o644) }, "the user's"},
		{"same size", func(path string) error { return os.WriteFile(path, []byte("0urs"), 0o644) }, "0urs"},
		{"saved by renaming", func(path string) error { return savedOver(path, "the user's") }, "the user's"},
		{"replaced by a link", func(path string) error {
			_ = os.Remove(path)
			return os.Symlink("../workspace/target", path)
		}, "outside"},
	}
	for _, tt := range tests {
		for _, created := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				g := newFixture(t)
				put(t, filepath.Join(g.outside, "target"), "outside")
				put(t, g.in("a"), "old a")
				put(t, g.in("c"), "old c")
				if !created {
					put(t, g.in("b"), "old b")
				}
				f := g.call(t).FS()
				for _, name := range []string{"a", "b", "c"} {
					if err := f.WriteText(t.Context(), name, "ours", nil); err != nil {
						t.Fatal(err)
					}
				}
				if err := tt.meddle(g.in("b")); err != nil {
					testreq.Skip(t, "symbolic links")
				}
				for range 2 { // a second time changes nothing
					failed := g.Rollback(t.Context(), "call_1")
					if len(failed) != 1 || !strings.Contains(failed[0].Error(), g.in("b")+" was changed since") {
						t.Fatalf("failures %v", failed)
					}
					same(t, "a", get(t, g.in("a")), "old a")
					same(t, "b", get(t, g.in("b")), tt.want)
					same(t, "c", get(t, g.in("c")), "old c")
					same(t, "outside", get(t, filepath.Join(g.outside, "target")), "outside")
					same(t, "modified", g.History().Modified("call_1"), []string{g.in("b")})
				}
			})
		}
	}
}

// TestRollback_KeepsWhatOthersDid covers what a rollback must leave alone.
func TestRollback_KeepsWhatOthersDid(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("script"), "old")
	f := g.call(t).FS()
	for _, name := range []string{"script", "made/ours"} {
		if err := f.WriteText(t.Context(), name, "ours", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(g.in("script"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, g.in("made/theirs"), "theirs")
	if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
		t.Fatal(failed)
	}
	same(t, "content", get(t, g.in("script")), "old")
	if info, err := os.Stat(g.in("script")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the mode that the user gave is gone: %v, %v", info.Mode(), err)
	}
	same(t, "beside ours", get(t, g.in("made/theirs")), "theirs")
	if _, err := os.Lstat(g.in("made/ours")); !os.IsNotExist(err) {
		t.Errorf("the created file stayed: %v", err)
	}
}

// TestRollback_WhenTheCallEnded rolls back what a finished, and what a
// cancelled call did.
func TestRollback_WhenTheCallEnded(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	c := g.Call("call_1", "apply_patch", nil)
	if err := c.FS().WriteText(t.Context(), "new", "ours", nil); err != nil {
		t.Fatal(err)
	}
	unlock, err := c.FS().Lock(t.Context(), "new")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock() // a tool holds its locks while it rolls back
	c.Finish()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if failed := c.Changes().Rollback(ctx); len(failed) > 0 {
		t.Fatal(failed)
	}
	if _, err := os.Lstat(g.in("new")); !os.IsNotExist(err) {
		t.Errorf("the file stayed: %v", err)
	}
}
