package gitdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/pathname"
	"acp-agent/internal/regularfile"
)

// Repository is a repository with a working tree. Its paths are absolute. They hold no links but
// the links in the path of the directory that Find was given.
type Repository struct {
	// Top is the working tree.
	Top string
	// Dir is what git keeps for this working tree alone: HEAD and the index.
	Dir string
	// Common is what all working trees of the repository share: configuration, hooks and
	// objects. It is Dir unless Linked.
	Common string
}

// Linked reports a working tree that "git worktree add" made.
func (r Repository) Linked() bool { return r.Dir != r.Common }

// maxLink bounds the files that lead from a worktree to its repository, in bytes.
const maxLink = 4 << 10

// Find finds the repository of an absolute directory. ok is false where there is none, and
// where what git would find is not one of the plain kinds: a directory that is a repository
// itself, a submodule, or a .git that leads anywhere else.
func Find(dir string) (found Repository, ok bool) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err == nil && info.IsDir():
			found = Repository{Top: dir, Dir: git, Common: git}
			return found, found.valid() // where it is not, git looks further up, which is not a plain kind
		case err == nil && info.Mode().IsRegular():
			return worktree(dir, git)
		case !errors.Is(err, fs.ErrNotExist), MayExist(filepath.Join(dir, "HEAD")) && MayExist(filepath.Join(dir, "objects")), dir == filepath.Dir(dir):
			return Repository{}, false
		}
	}
}

// None reports that neither an absolute directory nor one above it holds anything that git could take for a
// repository. A directory .git without a HEAD is not one.
func None(dir string) bool {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		empty := err == nil && info.IsDir() && !MayExist(filepath.Join(git, "HEAD"))
		if !empty && !errors.Is(err, fs.ErrNotExist) || MayExist(filepath.Join(dir, "HEAD")) && MayExist(filepath.Join(dir, "objects")) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// MayExist reports whether there is anything at a path, or whether that cannot be known.
func MayExist(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Outside are the repositories that absolute directories belong to and that lie outside all of
// them, each once.
func Outside(dirs []string) (found []Repository) {
	for _, dir := range dirs {
		repo, ok := Find(dir)
		inside := func(dir string) bool { return pathname.Contains(dir, repo.Dir) }
		if ok && !slices.ContainsFunc(dirs, inside) && !slices.Contains(found, repo) {
			found = append(found, repo)
		}
	}
	return found
}

// worktree follows the file .git of a linked worktree. The repository has to name that file
// in return, for a command may have written it: so no file leads to a repository that knows
// nothing of it, nor to one that is not called .git, which nothing protects.
func worktree(top, file string) (found Repository, ok bool) {
	text, err := Read(file, maxLink)
	if err != nil {
		return Repository{}, false
	}
	name, ok := strings.CutPrefix(withoutLineEnd(text), "gitdir: ")
	if !ok || strings.ContainsRune(name, 0) {
		return Repository{}, false
	}
	dir, err := filepath.EvalSymlinks(resolve(top, name))
	if err != nil {
		return Repository{}, false
	}
	back, err := pathIn(dir, "gitdir")
	if err != nil || !sameFile(back, file) {
		return Repository{}, false
	}
	common := filepath.Dir(filepath.Dir(dir))
	text, err = Read(filepath.Join(dir, "commondir"), maxLink)
	if says := withoutLineEnd(text); err != nil || says != filepath.FromSlash("../..") && says != common {
		return Repository{}, false
	}
	found = Repository{Top: top, Dir: dir, Common: common}
	return found, filepath.Base(common) == ".git" && filepath.Base(filepath.Dir(dir)) == "worktrees" && found.valid()
}

// valid reports what git demands of a repository before it uses it.
func (r Repository) valid() bool {
	head, err := Read(filepath.Join(r.Dir, "HEAD"), maxLink)
	if err != nil || !headText().Match(head) {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(r.Common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// headText is what HEAD holds: the name of a branch, or a commit.
var headText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(ref: refs/[^\x00\n]+|[0-9a-f]{40}|[0-9a-f]{64})\r?\n?$`)
})

// withoutLineEnd is a text as git reads it: a blank counts, also at the end.
func withoutLineEnd(text []byte) string { return strings.TrimRight(string(text), "\r\n") }

// pathIn is the path that a file of a worktree's directory holds.
func pathIn(dir, name string) (string, error) {
	text, err := Read(filepath.Join(dir, name), maxLink)
	return resolve(dir, withoutLineEnd(text)), err
}

// resolve is a path as it is meant in a directory.
func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Read returns what a regular file of at most limit bytes holds; a longer one is an error.
// It follows links, as git does, and waits for no pipe.
func Read(path string, limit int64) ([]byte, error) {
	data, err := regularfile.Read(path, limit+1)
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data, err
}
