package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of git's counts while it holds a user and password, and no other file does, nor a
// link, which callers follow.
func TestFiles_HoldsAddress(t *testing.T) {
	g := newFixture(t)
	dir := g.cwd
	const with, without = "url = https://u:hunter2hunter2@example.com/x.git\n", "url = https://example.com/x.git\n"
	for name, text := range map[string]string{
		".git/config": with, ".gitmodules": without, "sub/.gitmodules": with, ".git/modules/m/config": with, ".git/logs/HEAD": with,
		".git/FETCH_HEAD": with, "config": with, "bare.git/config": with, "a.txt": with, ".git/HEAD": "ref: x\n", ".gitconfig": strings.Repeat("#", 1<<20) + "\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".git/config", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	files := g.Call("1", "read", nil).FS()
	for name, want := range map[string]bool{
		".git/config": true, ".gitmodules": false, "sub/.gitmodules": true, ".git/modules/m/config": true, ".git/logs/HEAD": true,
		".git/FETCH_HEAD": true, "config": false, "bare.git/config": true, "a.txt": false, ".git/HEAD": false, ".gitconfig": true, "link": false, "none/.gitmodules": false,
	} {
		if got := files.HoldsAddress(filepath.Join(dir, filepath.FromSlash(name))); got != want {
			t.Errorf("HoldsAddress(%q) = %v", name, got)
		}
	}
}
