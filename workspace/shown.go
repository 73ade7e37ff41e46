package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
	"acp-agent/workspace/run"
)

// How much of a directory is looked through for what is to be hidden before a command sees it, how much may be hidden in
// it, and how long the result holds at the most. A directory must have been left alone for shownSettled before it was
// looked through, so that a later change is certain to show in its time.
const (
	maxShown       = 50_000
	maxShownHidden = 100
	maxShownAge    = 5 * time.Second
	shownSettled   = 2 * time.Second
)

// Shown says what a command that may read a path outside the session's directories sees of it.
type Shown struct {
	// Path is where the path really is; "" for what must not be read, and where Closed says why.
	Path string
	// Info is what Path was when it was checked.
	Info fs.FileInfo
	// Secrets lie beneath Path, and so do Objects, where repositories keep the content of files, and Addresses, where
	// they keep a user and password.
	Secrets, Objects, Addresses []string
	// IsObject says that Path lies in such a directory itself.
	IsObject bool
	// Opened says that an answer has opened the directory for the session. Otherwise it takes an
	// answer about the command.
	Opened bool
	// Closed says why a command sees nothing of a directory that may be read.
	Closed string
}

// Shown finds out what a command may see of a path outside the session's directories.
func (c *checker) Shown(abs string) Shown {
	t, err := c.follow(abs)
	if err != nil {
		return Shown{}
	}
	access, err := c.check(t, false)
	switch {
	case err != nil || access.Inside && !access.Opened:
		return Shown{}
	case !access.Opened && !access.isDir:
		return Shown{Path: access.Real, Info: t.last().info}
	case access.Dir == "":
		return Shown{}
	}
	shown := Shown{Path: access.Real, Info: t.last().info, Opened: access.Opened, IsObject: len(objectsAbove(access.Real)) > 0}
	top := access.Real
	if access.Opened {
		top = access.Dir
	}
	hidden := c.looked.through(top, c.protection.Secret)
	if _, _, same := t.below(hidden.top); hidden.closed == "" && !same {
		hidden.closed = "it changed while it was looked through"
	}
	if hidden.closed != "" && access.isDir {
		return Shown{Opened: access.Opened, Closed: hidden.closed}
	}
	within := func(path string) bool { return path != shown.Path && pathname.Contains(shown.Path, path) }
	for _, path := range hidden.secrets {
		if within(path) {
			shown.Secrets = append(shown.Secrets, path)
		}
	}
	for _, path := range hidden.objects {
		if within(path) {
			shown.Objects = append(shown.Objects, path)
		}
		shown.IsObject = shown.IsObject || pathname.Contains(path, shown.Path)
	}
	for _, path := range hidden.addresses {
		if within(path) {
			shown.Addresses = append(shown.Addresses, path)
		}
		shown.IsObject = shown.IsObject || pathname.Contains(path, shown.Path)
	}
	return shown
}

// lookedThrough remembers for a moment what is to be hidden in directories. It is safe for concurrent use.
type lookedThrough struct {
	mu   sync.Mutex
	dirs map[string]hiddenNames
}

// hiddenNames is what is to be hidden in a directory, by names, or why that is not known.
type hiddenNames struct {
	secrets, objects, addresses []string
	closed                      string
	// top is the directory itself.
	top fs.FileInfo
	// dirs are the directories in it, as they were when it was looked through at the time at.
	dirs map[string]fs.FileInfo
	at   time.Time
}

// holds reports whether no name in the directory can have changed.
func (h *hiddenNames) holds() bool {
	for path, was := range h.dirs {
		is, err := os.Lstat(path)
		if err != nil || !os.SameFile(was, is) || !rootfile.Changed(was).Equal(rootfile.Changed(is)) || h.at.Sub(rootfile.Changed(is)) < shownSettled {
			return false
		}
	}
	return time.Since(h.at) < maxShownAge
}

// through looks through a directory.
func (l *lookedThrough) through(top string, secret func(path string) bool) hiddenNames {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.dirs[top]; ok && known.holds() {
		return known
	}
	hidden := hiddenNames{objects: objectsAbove(top), dirs: map[string]fs.FileInfo{}, at: time.Now()}
	hidden.look(top, secret)
	if l.dirs == nil {
		l.dirs = map[string]hiddenNames{}
	}
	l.dirs[top] = hidden
	return hidden
}

func (h *hiddenNames) look(top string, secret func(path string) bool) {
	r, err := openRoot(top)
	if err != nil || r.path != top {
		h.closed = "it cannot be opened"
		return
	}
	defer r.handle.Close()
	h.top = r.info
	left := maxShown
	err = fs.WalkDir(r.handle.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		path := filepath.Join(top, filepath.FromSlash(name))
		switch left--; {
		case left < 0:
			h.closed = "it holds too many files to be looked through for secrets"
		case len(h.secrets)+len(h.objects)+len(h.addresses) > maxShownHidden:
			h.closed = "it holds too many secrets and repositories to hide them one by one"
		case err != nil && name == ".":
			h.closed = "it cannot be listed"
		case slices.Contains(h.objects, path): // hidden as a whole
		// A directory that cannot be listed may hold one, and other systems than git keep the content of files.
		case err != nil, secret(path), pathname.KeepsContent(filepath.Base(filepath.Dir(path)), filepath.Base(path)):
			h.secrets = append(h.secrets, path)
		default:
			switch filepath.Base(path) {
			case "HEAD":
				h.addObjects(r, filepath.Dir(path))
				h.addresses = append(h.addresses, gitdir.Addresses(filepath.Dir(path), run.HoldsAddress)...)
			case ".gitmodules":
				if run.HoldsAddress(path) {
					h.addresses = append(h.addresses, path)
				}
			}
			if entry.IsDir() {
				h.note(path, entry)
			}
			return nil
		}
		switch {
		case h.closed != "":
			return fs.SkipAll
		case entry.IsDir():
			return fs.SkipDir
		}
		return nil
	})
	if err != nil && h.closed == "" {
		h.closed = "it cannot be listed"
	}
}

// note remembers a directory as it is before it is listed.
func (h *hiddenNames) note(path string, entry fs.DirEntry) {
	info, err := entry.Info()
	if err != nil {
		h.at = time.Time{} // it has just gone: the result is not for a second time
		return
	}
	h.dirs[path] = info
}

// addObjects adds the directories in which a repository keeps content, by the directory of its own data.
func (h *hiddenNames) addObjects(r *root, data string) {
	for _, dir := range gitdir.Objects(data) {
		rel, inside := pathname.Rel(r.path, dir)
		if !inside || slices.Contains(h.objects, dir) {
			continue
		}
		if _, err := r.handle.Stat(rel); err == nil {
			h.objects = append(h.objects, dir)
		}
	}
}

// objectsAbove returns the directories of objects that a directory lies in.
func objectsAbove(dir string) (objects []string) {
	for path := dir; path != filepath.Dir(path); path = filepath.Dir(path) {
		if strings.EqualFold(filepath.Base(path), "objects") || strings.EqualFold(filepath.Base(path), "lfs") {
			if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "HEAD")); err == nil {
				objects = append(objects, path)
			}
		}
	}
	return objects
}
