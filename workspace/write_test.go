package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
	"acp-agent/workspace/undo/recovery"
)

func TestWriteText(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	files := g.call(t).FS()
	tests := []struct{ name, path, text string }{
		{"new file", "new", "text\n"},
		{"new file in new directories", "a/b/c/new", "text\n"},
		{"over an old one", "new", "other\r\n"},
		{"empty", "new", ""},
		{"in scratch", g.Session().Scratch + "/x/y", "note"},
		{"new secret", ".env", "KEY=1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := files.WriteText(t.Context(), tt.path, tt.text, nil); err != nil {
				t.Fatal(err)
			}
			same(t, "content", get(t, g.abs(tt.path)), tt.text)
		})
	}
	noTemps(t, g)
}

func TestWriteText_Refuses(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) {
		o.Limits = tools.CanonicalLimits()
		o.Limits.FileBytes = 10
	})
	put(t, filepath.Join(g.outside, "file"), "outside")
	put(t, g.in("dir/file"), "x")
	put(t, g.in("sub/.env"), "KEY")
	link(t, filepath.Join(g.outside, "file"), g.in("out"))
	link(t, g.outside, g.in("outdir"))
	link(t, "sub/.env", g.in("notes"))
	files := g.call(t).FS()
	tests := []struct {
		name, path, text string
		kind             tools.ErrorKind
	}{
		{"outside", filepath.Join(g.outside, "new"), "x", tools.Denied},
		{"link out", "out", "x", tools.Denied},
		{"directory link out", "outdir/new/file", "x", tools.Denied},
		{"existing secret", "sub/.env", "x", tools.BadInput},
		{"existing secret behind a link", "notes", "x", tools.BadInput},
		{"directory", "dir", "x", tools.BadInput},
		{"root", "", "x", tools.BadInput},
		{"below a file", "dir/file/x", "x", tools.BadInput},
		{"too long", "new", "12345678901", tools.BadInput},
		{"not text", "new", "\xff", tools.BadInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			toolError(t, files.WriteText(t.Context(), tt.path, tt.text, nil), tt.kind)
		})
	}
	same(t, "outside", get(t, filepath.Join(g.outside, "file")), "outside")
	same(t, "secret", get(t, g.in("sub/.env")), "KEY")
	if entries, err := os.ReadDir(g.outside); err != nil || len(entries) != 1 {
		t.Errorf("outside now holds %v, %v", entries, err)
	}
}

func TestWriteText_KeepsFile(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	files := g.call(t).FS()
	t.Run("mode", func(t *testing.T) {
		for _, mode := range []os.FileMode{0o755, 0o600, 0o640, 0o444} {
			path := put(t, g.in("script"), "old")
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if err := files.WriteText(t.Context(), "script", "new", nil); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "mode", info.Mode().Perm(), mode)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("link", func(t *testing.T) {
		put(t, g.in("target"), "old")
		link(t, "target", g.in("link"))
		if err := files.WriteText(t.Context(), "link", "new", nil); err != nil {
			t.Fatal(err)
		}
		same(t, "target", get(t, g.in("target")), "new")
		if to, err := os.Readlink(g.in("link")); err != nil || to != "target" {
			t.Errorf("the link now is %q, %v", to, err)
		}
	})
	t.Run("hard link", func(t *testing.T) {
		put(t, g.in("one"), "old")
		if err := os.Link(g.in("one"), g.in("two")); err != nil {
			testreq.Skip(t, "hard links")
		}
		before := tools.Text{Content: "old", Exists: true}
		if err := files.WriteText(t.Context(), "one", "new", &before); err != nil {
			t.Fatal(err)
		}
		same(t, "one", get(t, g.in("one")), "new")
		same(t, "two", get(t, g.in("two")), "old")
	})
	noTemps(t, g)
}

func TestWriteText_Before(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	files := g.call(t).FS()
	tests := []struct {
		name     string
		now      *string // what the file holds when it is written
		before   tools.Text
		wantFail bool
	}{
		{"unchanged", new("old"), tools.Text{Content: "old", Exists: true}, false},
		{"unchanged and empty", new(""), tools.Text{Exists: true}, false},
		{"changed", new("user"), tools.Text{Content: "old", Exists: true}, true},
		{"grown", new("old and more"), tools.Text{Content: "old", Exists: true}, true},
		{"deleted", nil, tools.Text{Content: "old", Exists: true}, true},
		{"still missing", nil, tools.Text{}, false},
		{"appeared", new("user"), tools.Text{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_ = os.Remove(g.in("file"))
			if tt.now != nil {
				put(t, g.in("file"), *tt.now)
			}
			err := files.WriteText(t.Context(), "file", "ours", &tt.before)
			if !tt.wantFail {
				if err != nil {
					t.Fatal(err)
				}
				same(t, "content", get(t, g.in("file")), "ours")
				return
			}
			e := toolError(t, err, tools.Backend)
			if !strings.Contains(e.Message, "changed since it was read") {
				t.Errorf("error %q", e.Message)
			}
			if tt.now != nil {
				same(t, "content", get(t, g.in("file")), *tt.now)
			}
		})
	}
	noTemps(t, g)
}

// TestWriteText_Faults makes each step fail in turn: the old bytes stay, no
// temporary file does, and the error says why.
func TestWriteText_Faults(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"create", "write", "chmod", "sync", "rename"} {
		for _, errno := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EDQUOT, syscall.EMFILE} {
			t.Run(step+" "+errno.Error(), func(t *testing.T) {
				failing := true
				g := newFixture(t, func(o *Options) {
					o.fault = func(s string) error {
						if failing && s == step {
							return &os.PathError{Op: s, Path: "x", Err: errno}
						}
						return nil
					}
				})
				put(t, g.in("file"), "old")
				files := g.call(t).FS()
				for _, before := range []*tools.Text{nil, {Content: "old", Exists: true}} {
					err := files.WriteText(t.Context(), "file", "new", before)
					e := toolError(t, err, tools.Backend)
					if !errors.Is(err, errno) || !strings.Contains(e.Message, errno.Error()) {
						t.Errorf("error %v does not tell %v", err, errno)
					}
					same(t, "content", get(t, g.in("file")), "old")
					noTemps(t, g)
				}
				failing = false
				if err := files.WriteText(t.Context(), "file", "new", nil); err != nil {
					t.Fatal(err)
				}
				same(t, "content", get(t, g.in("file")), "new")
			})
		}
	}
	t.Run("mkdir", func(t *testing.T) {
		g := newFixture(t, func(o *Options) {
			o.fault = func(s string) error {
				if s == "mkdir" {
					return syscall.ENOSPC
				}
				return nil
			}
		})
		toolError(t, g.call(t).FS().WriteText(t.Context(), "a/b", "x", nil), tools.Backend)
	})
	t.Run("the directory's entry cannot be synced", func(t *testing.T) {
		g := newFixture(t, func(o *Options) {
			o.fault = func(s string) error {
				if s == "syncdir" {
					return syscall.EIO
				}
				return nil
			}
		})
		if err := g.call(t).FS().WriteText(t.Context(), "a", "x", nil); err != nil {
			t.Error(err)
		}
	})
}

// noTemps asserts that no write left anything beside its target.
func noTemps(t *testing.T, g *fixture) {
	t.Helper()
	_ = filepath.WalkDir(filepath.Dir(g.cwd), func(path string, _ os.DirEntry, err error) error {
		if err == nil && recovery.IsTempName(filepath.Base(path)) {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

// TestWriteText_LosesNoEdit lets the user save, by renaming as most editors
// do, while the agent edits: each of the user's lines must survive.
func TestWriteText_LosesNoEdit(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "")
	files := g.call(t).FS()
	rounds := testreq.Rounds(60, 300)
	var user sync.WaitGroup
	var saved []string
	user.Go(func() {
		for i := range rounds {
			line := "user " + string(rune('a'+i%26)) + strings.Repeat("x", i) + "\n"
			text := get(t, g.in("file")) + line
			if err := savedOver(g.in("file"), text); err == nil {
				saved = append(saved, line)
			}
			files.Stat(t.Context(), "file")
		}
	})
	wrote := 0
	for range rounds {
		before, err := files.ReadText(t.Context(), "file")
		if err != nil {
			t.Fatal(err)
		}
		if files.WriteText(t.Context(), "file", before.Content+"agent\n", &before) == nil {
			wrote++
		}
	}
	user.Wait()
	// The user's program reads and saves without looking, so it may lose the
	// agent's lines; the agent must never lose the user's last save.
	final := get(t, g.in("file"))
	if last := saved[len(saved)-1]; !strings.Contains(final, last) {
		t.Errorf("the last of %d saves is lost after %d writes", len(saved), wrote)
	}
	noTemps(t, g)
}

func savedOver(path, text string) error {
	temp := path + ".user"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// TestWriteText_SwappedForLink writes while a directory on the way is replaced
// by a link that leads out.
func TestWriteText_SwappedForLink(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("dir/file"), "x")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if os.Rename(g.in("dir"), g.in("away")) == nil {
				_ = os.Symlink(g.outside, g.in("dir"))
				_ = os.Remove(g.in("dir"))
				_ = os.Rename(g.in("away"), g.in("dir"))
			}
		}
	}()
	files := g.call(t).FS()
	for range testreq.Rounds(60, 300) {
		_ = files.WriteText(t.Context(), "dir/file", "ours", nil)
		if entries, err := os.ReadDir(g.outside); err != nil || len(entries) != 0 {
			t.Errorf("a write went outside: %v, %v", entries, err)
			break
		}
	}
	close(stop)
	<-done
}

// TestWriteText_Parallel edits one file from many goroutines under its lock.
func TestWriteText_Parallel(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "")
	const writers = 8
	each := testreq.Rounds(8, 25)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			files := g.Call("call", "edit", nil).FS()
			for range each {
				unlock, err := files.Lock(t.Context(), "file")
				if err != nil {
					t.Error(err)
					return
				}
				before, err := files.ReadText(t.Context(), "file")
				if err == nil {
					err = files.WriteText(t.Context(), "file", before.Content+".", &before)
				}
				unlock()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	same(t, "length", len(get(t, g.in("file"))), writers*each)
}
