package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testreq"
)

// hiding is a workspace whose secrets are files named .env, of which commands are kept from
// any, and *.key.
func hiding(t testing.TB, dir string, more ...string) *Workspace {
	t.Helper()
	w, err := New(Options{
		SessionID: "ses_hidden", Cwd: dir, Additional: more, StateDir: filepath.Join(t.TempDir(), "state"),
		Secret: func(path string) bool {
			return filepath.Base(path) == ".env" || strings.HasSuffix(path, ".key") || filepath.Base(path) == ".ssh"
		},
		Hidden: func(path string) bool { return filepath.Base(path) == ".env" },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(0) })
	return w
}

func layFiles(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Secrets are found wherever they lie, in all directories of the session; what others have
// published is left to commands that may do more than read, and what git names is left to
// git.
func TestSecretsFor(t *testing.T) {
	dir, more := realDir(t), realDir(t)
	layFiles(t, dir, ".env", "a/b/c/d/e/.env", ".hidden/.env", "x.key", "keys/.ssh/id", "node_modules/p/.env", "node_modules/p/x.key", "vendor/p/.env",
		".git/HEAD", ".git/refs/heads/x.key", ".git/objects/00/x.key", ".git/x.key", ".git/modules/m/refs/heads/x.key", "main.go")
	layFiles(t, more, "deep/er/.env")
	link := filepath.Join(realDir(t), "link")
	if err := os.Symlink(more, link); err != nil {
		testreq.Skip(t, err.Error())
	}
	w := hiding(t, dir, link)
	w.secrets.settled = 1 // all are taken from memory
	for _, tt := range []struct {
		reading bool
		want    []string
	}{
		{false, []string{".env", "a/b/c/d/e/.env", ".hidden/.env", "+deep/er/.env"}},
		{true, []string{
			".env", "a/b/c/d/e/.env", ".hidden/.env", "+deep/er/.env", "x.key", "keys/.ssh", "node_modules/p/.env", "node_modules/p/x.key", "vendor/p/.env", ".git/x.key",
		}},
	} {
		for range 2 { // the second time from memory
			found, whole := w.secretsFor(tt.reading)
			var want []string
			for _, name := range tt.want {
				if rest, of := strings.CutPrefix(name, "+"); of {
					want = append(want, filepath.Join(more, filepath.FromSlash(rest)))
					continue
				}
				want = append(want, filepath.Join(dir, filepath.FromSlash(name)))
			}
			slices.Sort(want)
			slices.Sort(found.paths)
			if !slices.Equal(found.paths, want) || !whole {
				t.Errorf("reading %v: %q (whole %v), want %q", tt.reading, found.paths, whole, want)
			}
		}
	}
}

// What has come, gone or moved since a directory was listed is seen.
func TestSecretsFor_Changes(t *testing.T) {
	dir := realDir(t)
	layFiles(t, dir, "a/b/x", "c/.env")
	w := hiding(t, dir)
	expect := func(want ...string) {
		t.Helper()
		found, whole := w.secretsFor(true)
		var names []string
		for _, path := range found.paths {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(rel))
		}
		slices.Sort(names)
		if !slices.Equal(names, want) || !whole {
			t.Errorf("%q (whole %v), want %q", names, whole, want)
		}
	}
	expect("c/.env")
	expect("c/.env")
	layFiles(t, dir, "a/b/.env")
	expect("a/b/.env", "c/.env")
	if err := os.Rename(filepath.Join(dir, "c"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	layFiles(t, dir, "c/new.key")
	expect("a/b/.env", "c/new.key", "old/.env")
	if err := os.RemoveAll(filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	expect("a/b/.env", "c/new.key")
}

// What cannot be looked through, or hidden, is said.
func TestSecretsFor_Bounds(t *testing.T) {
	dir := realDir(t)
	deep := strings.Repeat("d/", maxSecretDepth+2)
	layFiles(t, dir, deep+"x")
	if _, whole := hiding(t, dir).secretsFor(true); whole {
		t.Error("a tree that is too deep is known as a whole")
	}
	dir = realDir(t)
	for i := range maxMounted + 1 {
		layFiles(t, dir, fmt.Sprintf("d%d/.env", i))
	}
	w := hiding(t, dir)
	if found, whole := w.secretsFor(false); whole || len(found.paths) != maxMounted {
		t.Errorf("%d mounts, whole %v", len(found.paths), whole)
	}
	if found, whole := w.secretsFor(true); !whole || len(found.paths) != maxMounted+1 {
		t.Errorf("%d hidden from a command that reads, whole %v", len(found.paths), whole)
	}
}

// BenchmarkSecretsFor looks through 30,000 files in 3,000 directories, at first and again.
func BenchmarkSecretsFor(b *testing.B) {
	dir := b.TempDir()
	for i := range 3000 {
		for j := range 10 {
			layFiles(b, dir, fmt.Sprintf("d%d/e%d/f%d", i%100, i, j))
		}
	}
	for _, name := range []string{"first", "again"} {
		b.Run(name, func(b *testing.B) {
			w := hiding(b, dir)
			w.secrets.settled = 1
			for b.Loop() {
				if name == "first" {
					clear(w.secrets.dirs)
				}
				if _, whole := w.secretsFor(true); !whole {
					b.Fatal("not whole")
				}
			}
		})
	}
}
