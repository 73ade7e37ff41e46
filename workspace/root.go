package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"acp-agent/tools"
	"acp-agent/workspace/private"
)

// root is a directory whose inside a session may use.
type root struct {
	// given is the spelling it came with, path the one without links.
	given, path string
	handle      *os.Root
	info        fs.FileInfo
	// write allows changes, editor says that the client's editor knows the
	// files, own marks the session's private directory.
	write, editor, own bool
	// opened says that an answer has opened it for the session, at the time at.
	opened bool
	at     time.Time
	// only, when set, is the one name inside that is allowed.
	only string
}

// openRoot opens a directory that must be absolute and exist (P9).
func openRoot(path string) (*root, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("directory %q is not an absolute path", path)
	}
	given := filepath.Clean(plainPath(path))
	t, err := follow(given)
	switch {
	case err != nil:
		return nil, fmt.Errorf("directory %q: %w", path, err)
	case !t.exists():
		return nil, fmt.Errorf("directory %q: %w", path, fs.ErrNotExist)
	case !t.isDir():
		return nil, fmt.Errorf("%q is not a directory", path)
	}
	handle, err := os.OpenRoot(t.real())
	if err != nil {
		return nil, fmt.Errorf("open directory %q: %w", path, err)
	}
	info, err := handle.Stat(".")
	if err != nil {
		_ = handle.Close()
		return nil, fmt.Errorf("open directory %q: %w", path, err)
	}
	return &root{given: given, path: t.real(), handle: handle, info: info}, nil
}

// handleRoots are a private directory and its scratch directory, which are held open
// already, as roots; none when they cannot be looked at.
func handleRoots(dir *private.Dir, own, scratch *os.Root) []*root {
	roots := []*root{
		{given: dir.Path(), handle: own, own: true},
		{given: dir.Scratch(), handle: scratch, own: true, write: true},
	}
	for _, r := range roots {
		t, err := follow(r.given)
		if err != nil {
			return nil
		}
		r.path = t.real()
		if r.info, err = r.handle.Stat("."); err != nil {
			return nil
		}
	}
	return roots
}

// stands reports whether the root's path still leads to the directory that was opened.
func (r *root) stands() bool {
	now, err := os.Lstat(r.path)
	return err == nil && os.SameFile(now, r.info)
}

// goneError refuses a path while a root of the session is not what it was: nothing is
// known of what has taken its place.
func goneError(path string, r *root) *tools.Error {
	return &tools.Error{
		Kind: tools.Denied, Path: path, DeniedBy: tools.DeniedByCapability,
		Message: path + " cannot be used: the session's directory " + r.path + " was removed, or another has taken its place",
		Hint:    "put the directory back, or ask the user to open a new session in the one that is there now",
	}
}

// spelled is a path below the root in the spelling the root came with, which
// is the one an editor knows.
func (r *root) spelled(rel []string) string {
	return filepath.Join(append([]string{r.given}, rel...)...)
}

// pick returns the deepest of the roots that holds what the trail leads to,
// and the way from there; nil when none does.
func pick(roots []*root, t *trail, write bool) (best *root, rel []string) {
	deepest := -1
	for _, r := range roots {
		if write && !r.write {
			continue
		}
		below, depth, ok := t.below(r.info)
		if !ok || depth < deepest || r.only != "" && (len(below) != 1 || below[0] != r.only) {
			continue
		}
		if depth == deepest && best.rank() >= r.rank() {
			continue
		}
		best, rel, deepest = r, below, depth
	}
	return best, rel
}

// rank orders roots that are the same directory: the most capable one counts.
func (r *root) rank() int {
	rank := 0
	if r.write {
		rank += 2
	}
	if r.editor {
		rank++
	}
	return rank
}
