package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/rootfile"
	"acp-agent/internal/testkit/testreq"
)

// hiding is the runner of a workspace whose secrets are files named .env, of which commands
// are kept from any, and *.key.
func hiding(t testing.TB, dirs ...string) *Runner {
	t.Helper()
	w := Workspace{Own: len(dirs), Protection: Protection{
		Secret: func(path string) bool {
			return filepath.Base(path) == ".env" || strings.HasSuffix(path, ".key") || filepath.Base(path) == ".ssh"
		},
		Protected: func(string) bool { return false },
		Hidden:    func(path string) bool { return filepath.Base(path) == ".env" },
	}}
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		handle, err := os.OpenRoot(real)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { handle.Close() })
		w.Roots = append(w.Roots, Root{Dir: rootfile.Dir{Path: real, Handle: handle}, Write: true})
	}
	return New(Options{}, w)
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
func TestSearch_Secrets(t *testing.T) {
	dir, more := realDir(t), realDir(t)
	layFiles(t, dir, ".env", "a/b/c/d/e/.env", ".hidden/.env", "x.key", "keys/.ssh/id", "node_modules/p/.env", "node_modules/p/x.key", "vendor/p/.env",
		".git/HEAD", ".git/refs/heads/x.key", ".git/objects/00/x.key", ".git/x.key", ".git/modules/m/refs/heads/x.key", "main.go")
	layFiles(t, more, "deep/er/.env")
	link := filepath.Join(realDir(t), "link")
	if err := os.Symlink(more, link); err != nil {
		testreq.Skip(t, err.Error())
	}
	w := hiding(t, dir, link)
	w.index.settled = 1 // all are taken from memory
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
			seen := w.search(searchQuery{secrets: true, reading: tt.reading})
			var want []string
			for _, name := range tt.want {
				if rest, of := strings.CutPrefix(name, "+"); of {
					want = append(want, filepath.Join(more, filepath.FromSlash(rest)))
					continue
				}
				want = append(want, filepath.Join(dir, filepath.FromSlash(name)))
			}
			slices.Sort(want)
			slices.Sort(seen.secrets)
			if !slices.Equal(seen.secrets, want) || !seen.whole {
				t.Errorf("reading %v: %q (whole %v), want %q", tt.reading, seen.secrets, seen.whole, want)
			}
		}
	}
}

// Where repositories keep the content of files is found with the secrets, and where they borrow it.
func TestSearch_Objects(t *testing.T) {
	dir := realDir(t)
	layFiles(t, dir, ".git/HEAD", ".git/objects/pack/x", "p/.git/HEAD", "p/.git/objects/x", "p/.git/modules/m/HEAD", "p/.git/modules/m/objects/x", "bare/HEAD", "bare/objects/info/x", "plain/objects/x")
	if err := os.WriteFile(filepath.Join(dir, "bare/objects/info/alternates"), []byte("../../plain/objects\n# a comment\n/elsewhere/objects\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, whole := hiding(t, dir).ReadingSecrets()
	for _, name := range []string{".git", "p/.git", "p/.git/modules/m", "bare", "plain"} {
		if objects := filepath.Join(dir, name, "objects"); !slices.Contains(found.objects, objects) || !whole {
			t.Errorf("%s is not among %q (whole %v)", objects, found.objects, whole)
		}
	}
	if !slices.Contains(found.objects, filepath.FromSlash("/elsewhere/objects")) {
		t.Errorf("what is borrowed of elsewhere is not among %q", found.objects)
	}
}

// What other systems than git keep of the content of files is hidden from a command that only reads, and
// from no other, for their own programs need it.
func TestSearch_OtherContent(t *testing.T) {
	dir := realDir(t)
	layFiles(t, dir, ".svn/pristine/aa/x.svn-base", ".svn/wc.db", "p/.svn/text-base/x.svn-base", "p/.hg/store/data/x.i", "p/.hg/patches/x.diff", "p/.hg/patches-mine/x.diff", "p/.hg/shelve-backup/x.patch", "p/.hg/merge/0a1b", "p/.hg/hgrc", "c/CVS/Base/x", "c/CVS/Entries", "d/_darcs/pristine.hashed/x", "d/_darcs/prefs/boring", "store/x", "pristine/x")
	w := hiding(t, dir)
	for reading, want := range map[bool][]string{false: nil, true: {".svn/pristine", "c/CVS/Base", "d/_darcs/pristine.hashed", "p/.hg/merge", "p/.hg/patches", "p/.hg/patches-mine", "p/.hg/shelve-backup", "p/.hg/store", "p/.svn/text-base"}} {
		var names []string
		for _, path := range w.search(searchQuery{secrets: true, reading: reading}).secrets {
			names = append(names, filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator))))
		}
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("reading %v: %q, want %q", reading, names, want)
		}
	}
}

// What has come, gone or moved since a directory was listed is seen.
func TestSearch_Changes(t *testing.T) {
	dir := realDir(t)
	layFiles(t, dir, "a/b/x", "c/.env")
	w := hiding(t, dir)
	expect := func(want ...string) {
		t.Helper()
		found, whole := w.ReadingSecrets()
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

// Protected names are found wherever they lie but in node_modules and in other protected names,
// and repositories in node_modules, too, in each of the session's directories; a file that is a
// secret, too, is both.
func TestSearch_Names(t *testing.T) {
	dir, more := realDir(t), realDir(t)
	layFiles(t, dir, "AGENTS.md", ".env", "a/b/c/d/e/.vscode/AGENTS.md", "vendor/p/AGENTS.md", "node_modules/p/AGENTS.md", "node_modules/p/.git/HEAD", "keys/.ssh/AGENTS.md",
		".git/HEAD", ".git/AGENTS.md", "a/repo/.git/HEAD", "a/linked/.git", ".agents/AGENTS.md", "a/.agents/x", "x/.envrc", "main.go")
	layFiles(t, more, "deep/er/AGENTS.md")
	w := hiding(t, dir, more)
	w.index.settled = 1 // all are taken from memory
	w.w.Protection.Protected = func(path string) bool {
		return slices.Contains([]string{"AGENTS.md", ".vscode", ".agents", ".envrc", ".git"}, filepath.Base(path))
	}
	w.w.Protection.Hidden = func(path string) bool { return strings.HasPrefix(filepath.Base(path), ".env") }
	for range 2 { // the second time from memory
		seen := w.search(searchQuery{secrets: true, names: true})
		slices.Sort(seen.roots[0].names)
		slices.Sort(seen.secrets)
		for _, tt := range []struct {
			what      string
			got, want []string
		}{
			{"names", seen.roots[0].names, []string{"AGENTS.md", "a/.agents", "a/b/c/d/e/.vscode", "keys/.ssh/AGENTS.md", "vendor/p/AGENTS.md", "x/.envrc"}},
			{"repositories", seen.roots[0].repos, []string{"a/linked/.git", "a/repo/.git", "node_modules/p/.git"}},
			{"other names", seen.roots[1].names, []string{"deep/er/AGENTS.md"}},
			{"secrets", seen.secrets, []string{filepath.Join(dir, ".env"), filepath.Join(dir, "x", ".envrc")}},
		} {
			if !slices.Equal(tt.got, tt.want) || !seen.whole {
				t.Errorf("%s: %q (whole %v), want %q", tt.what, tt.got, seen.whole, tt.want)
			}
		}
	}
}

// What the first search did not come to may always have been there, and is not new.
func TestFound_After(t *testing.T) {
	second := rootResult{names: []string{"a/.envrc", "b/.envrc", ".envrc"}, repos: []string{"a/r/.git", "b/.git"}}
	now := second.after(&rootResult{more: true, dirs: map[string]bool{"": true, "b": true}})
	if !slices.Equal(now.names, []string{"b/.envrc", ".envrc"}) || !slices.Equal(now.repos, []string{"b/.git"}) {
		t.Errorf("new: %q and %q", now.names, now.repos)
	}
	if now := second.after(&rootResult{}); len(now.names) != 3 || len(now.repos) != 2 {
		t.Errorf("after a whole search, new: %q and %q", now.names, now.repos)
	}
}

// What cannot be searched, or hidden, is said.
func TestSearch_Bounds(t *testing.T) {
	dir := realDir(t)
	deep := strings.Repeat("d/", maxIndexDepth+2)
	layFiles(t, dir, deep+"x")
	w := hiding(t, dir)
	if _, whole := w.ReadingSecrets(); whole {
		t.Error("of a tree that is too deep, all secrets are known")
	}
	if _, whole := w.OpenSecrets(); whole {
		t.Error("of a tree that is too deep, all names are known")
	}
	dir = realDir(t)
	for i := range maxMounted + 3 {
		layFiles(t, dir, fmt.Sprintf("d%d/.env", i))
	}
	w = hiding(t, dir)
	if open, whole := w.OpenSecrets(); !whole || open != 3 {
		t.Errorf("%d stay open, whole %v", open, whole)
	}
	if found, whole := w.ReadingSecrets(); !whole || len(found.paths) != maxMounted+3 {
		t.Errorf("%d hidden from a command that reads, whole %v", len(found.paths), whole)
	}
}

// BenchmarkSearch looks through 30,000 files in 3,000 directories, at first and again.
func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	for i := range 3000 {
		for j := range 10 {
			layFiles(b, dir, fmt.Sprintf("d%d/e%d/f%d", i%100, i, j))
		}
	}
	for _, name := range []string{"first", "again"} {
		b.Run(name, func(b *testing.B) {
			w := hiding(b, dir)
			w.index.settled = 1
			for b.Loop() {
				if name == "first" {
					clear(w.index.dirs)
				}
				if _, whole := w.ReadingSecrets(); !whole {
					b.Fatal("not whole")
				}
			}
		})
	}
}
