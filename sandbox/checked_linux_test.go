package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChecked is another session's job that puts something else in the place of what a command may read outside, after that was
// checked: the command sees nothing of it, also when it comes only when the policy is made.
func TestChecked(t *testing.T) {
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, kind)
			write(t, g.home, map[string]string{"other/dir/name": "innocent", "private/name": "canary-private"})
			file, dir := filepath.Join(g.outside, "file"), filepath.Join(g.outside, "dir")
			g.request.Reading = true
			for _, path := range []string{file, dir} {
				info, err := os.Lstat(path)
				if err != nil {
					t.Fatal(err)
				}
				g.request.Readable, g.request.Checked = append(g.request.Readable, path), append(g.request.Checked, File{path, info})
			}
			const text = `cat ~/other/file ~/other/dir/name`
			if out, code := g.run(t, text); code != 0 || out != "otherinnocent" {
				t.Fatalf("exit code %d with %q", code, out)
			}
			replace := func(path string, with func(path string) error) {
				t.Helper()
				if err := os.Rename(path, path+".old"); err != nil {
					t.Fatal(err)
				}
				if err := with(path); err != nil {
					t.Fatal(err)
				}
				if out, _ := g.run(t, text); strings.Contains(out, "canary") {
					t.Errorf("%s: %q", path, out)
				}
			}
			replace(file, func(path string) error { return os.Symlink(filepath.Join(g.home, ".ssh", "id_ed25519"), path) })
			replace(dir, func(path string) error { return os.Symlink(filepath.Join(g.home, "private"), path) })
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(g.home, "private"), dir); err != nil {
				t.Fatal(err)
			}
			if out, _ := g.run(t, text); strings.Contains(out, "canary") {
				t.Errorf("another directory: %q", out)
			}
		})
	}
}

// A root of a session may be replaced by a session that works in the directory above it: then nothing beneath its name is
// shown, or can be written, which lies elsewhere.
func TestChecked_Root(t *testing.T) {
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, kind)
			write(t, g.home, map[string]string{"private/.git/config": "canary", "private/name": "canary"})
			info, err := os.Lstat(g.project)
			if err != nil {
				t.Fatal(err)
			}
			g.request.Checked = []File{{g.project, info}}
			if out, code := g.run(t, `cat main.go && echo x > made`); code != 0 || out != "package main" {
				t.Fatalf("exit code %d with %q", code, out)
			}
			if err := os.Rename(g.project, g.project+".old"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("private", g.project); err != nil {
				t.Fatal(err)
			}
			g.project = "/" // where the command runs
			if out, code := g.run(t, `cd "$D/home/project"; cat "$D/home/project/name" "$D/home/project/.git/config"; echo x > "$D/home/project/made"`); code == 0 || strings.Contains(out, "canary") {
				t.Errorf("exit code %d with %q", code, out)
			}
			if _, err := os.Lstat(filepath.Join(g.home, "private", "made")); err == nil {
				t.Error("a file was made elsewhere")
			}
		})
	}
}

// What is no longer what was checked is found from within, too: it may change while the view is made.
func TestChecked_Within(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	files := checked([]File{{path, info}})
	if err := lookAgain(files); err != nil || len(files) != 1 {
		t.Errorf("%d files: %v", len(files), err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := lookAgain(files); err != nil {
		t.Errorf("what is not there: %v", err)
	}
	if err := os.Symlink("x.old", path); err != nil {
		t.Fatal(err)
	}
	if lookAgain(files) == nil {
		t.Error("a link to it is taken for it")
	}
}
