package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/tools"
)

// TestRoots holds what directories a client may name: ones in each other, by a link,
// twice, and the whole disk.
func TestRoots(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	t.Run("in each other", func(t *testing.T) {
		t.Parallel()
		g := newFixture(t, func(o *Options) {
			sub := filepath.Join(o.Directories.Cwd, "sub")
			if err := os.Mkdir(sub, 0o755); err != nil {
				t.Fatal(err)
			}
			o.Directories.Additional = []string{sub, o.Directories.Cwd, filepath.Dir(o.Directories.Cwd)}
		})
		files := g.call(t).FS()
		for _, name := range []string{"a", "sub/a", "../workspace/a"} {
			if err := files.WriteText(ctx, name, "x", nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		top := filepath.Dir(filepath.Dir(g.cwd))
		toolError(t, files.WriteText(ctx, filepath.Join(top, "a"), "x", nil), tools.Denied)
	})
	t.Run("by a link", func(t *testing.T) {
		t.Parallel()
		var way, real, other string
		g := newFixture(t, func(o *Options) {
			top := filepath.Dir(o.Directories.Cwd)
			way, real, other = filepath.Join(top, "way"), filepath.Join(top, "real"), filepath.Join(top, "other")
			put(t, filepath.Join(real, "a"), "real")
			put(t, filepath.Join(other, "a"), canary)
			link(t, real, way)
			o.Directories.Additional = []string{way}
		})
		same(t, "roots", g.Session().Roots, []string{g.cwd, real})
		files := g.call(t).FS()
		for _, name := range []string{filepath.Join(way, "a"), filepath.Join(real, "a")} {
			if text, err := files.ReadText(ctx, name); err != nil || text.Content != "real" {
				t.Errorf("%s: %q, %v", name, text.Content, err)
			}
		}
		if err := os.Remove(way); err != nil {
			t.Fatal(err)
		}
		link(t, other, way)
		if _, err := files.ReadText(ctx, filepath.Join(way, "a")); err == nil {
			t.Error("the link of a root was followed to another directory")
		}
		if text, err := files.ReadText(ctx, filepath.Join(real, "a")); err != nil || text.Content != "real" {
			t.Errorf("the root itself: %q, %v", text.Content, err)
		}
	})
	t.Run("the whole disk", func(t *testing.T) {
		t.Parallel()
		g := newFixture(t, func(o *Options) {
			o.Directories.Additional = []string{filepath.VolumeName(o.Directories.Cwd) + string(filepath.Separator)}
		})
		files := g.call(t).FS()
		if err := files.WriteText(ctx, filepath.Join(g.outside, "a"), "x", nil); err != nil {
			t.Error(err)
		}
		_, err := files.ReadText(ctx, filepath.Join(g.outside, ".env"))
		toolError(t, err, tools.BadInput)
		if _, statErr := g.Check(g.Session().Scratch, false); statErr != nil {
			t.Fatal(statErr) // it makes the parent
		}
		if _, err := files.ReadText(ctx, filepath.Join(g.state, "ses_other", "x")); err == nil {
			t.Error("another session's directory was read")
		}
	})
	t.Run("unreadable", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS == "windows" || os.Geteuid() == 0 {
			t.Skip("root may read everything")
		}
		dir := t.TempDir()
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
		_, err := New(Options{SessionID: "s", Directories: Directories{Cwd: dir}})
		if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("error %v", err)
		}
	})
}

// TestRoots_Gone takes a root away, and puts others in its place, while the session
// lives: nothing of them is used, and the error says what happened.
func TestRoots_Gone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a directory that is open cannot be renamed")
	}
	tests := []struct {
		name  string
		after func(t *testing.T, g *fixture)
	}{
		{"removed", func(*testing.T, *fixture) {}},
		{"another directory", func(t *testing.T, g *fixture) { put(t, g.in("a"), canary) }},
		{"a link out", func(t *testing.T, g *fixture) {
			put(t, filepath.Join(g.outside, "a"), canary)
			link(t, g.outside, g.cwd)
		}},
		{"a file", func(t *testing.T, g *fixture) { put(t, g.cwd, canary) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t)
			put(t, g.in("a"), "x")
			files := g.call(t).FS()
			if err := os.Rename(g.cwd, g.cwd+".away"); err != nil {
				t.Fatal(err)
			}
			tt.after(t, g)
			if text, err := files.ReadText(t.Context(), "a"); err == nil {
				t.Errorf("read %q, exists %t", text.Content, text.Exists)
			}
			err := files.WriteText(t.Context(), "a", "y", nil)
			if err == nil {
				t.Fatal("written")
			}
			if tt.name != "a file" && !strings.Contains(err.Error(), "was removed, or another has taken its place") {
				t.Errorf("the error does not say what happened: %v", err)
			}
			if access, err := g.Check("a", false); err == nil {
				t.Errorf("the user would be asked about %+v", access)
			}
			if _, err := g.Workspace.workingDir(g.cwd); err == nil {
				t.Error("a command would run there")
			}
			if err := os.RemoveAll(g.cwd); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(g.cwd+".away", g.cwd); err != nil {
				t.Fatal(err)
			}
			if text, err := files.ReadText(t.Context(), "a"); err != nil || text.Content != "x" {
				t.Errorf("back again: %q, %v", text.Content, err)
			}
		})
	}
}
