package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Bounds of the search for secrets in the session's directories.
const (
	maxSecretEntries = 500_000
	maxSecretTime    = 3 * time.Second
	maxSecretDepth   = 100
	// maxSecrets is how many are hidden from a command that only reads.
	maxSecrets = 20_000
	// maxMounted is how many are hidden from another, for each is a mount, and a mount takes
	// longer the more of them there are.
	maxMounted = 100
)

// dependencyDirs hold what others have published. What is named like a secret there is a
// fixture of tests, which a command that runs them must read.
var dependencyDirs = [...]string{"node_modules", "vendor", "site-packages", "bower_components"}

// gitData are the directories of a repository whose names come from those of branches and
// of contents.
var gitData = [...]string{"objects", "refs", "logs", "lfs"}

// SecretFiles are the files and directories in the session's directories that a command
// must not read, as they were when it was looked for them.
type SecretFiles struct{ paths []string }

// secretIndex remembers what the names in the session's directories are, so that looking
// again costs a look at each directory and at those files that have changed. The zero value
// is ready.
type secretIndex struct {
	mu   sync.Mutex
	dirs map[string]*secretDir
	turn int // counts the searches that went everywhere
	// settled is how long a directory must have been left alone before it was listed, so
	// that a later change is certain to show in its time; 0 means settledAfter.
	settled time.Duration
}

// secretDir is a directory as it was when it was listed.
type secretDir struct {
	info    fs.FileInfo
	tracked time.Time // when the index of its repository was written
	read    time.Time
	entries int
	found   []secretName
	below   []secretBelow
	repo    bool
	turn    int // in which it was last looked at
}

type secretName struct {
	path string
	// hidden is of those that are kept from any command.
	hidden bool
}

// secretBelow is a directory in another.
type secretBelow struct{ name, path string }

const settledAfter = 2 * time.Second

// secretsFor looks for what is hidden from a command. whole says that all of the session's
// directories were looked through, and that what was found can be hidden.
func (w *Workspace) secretsFor(reading bool) (found SecretFiles, whole bool) {
	if w.o.Hidden == nil {
		return SecretFiles{}, true
	}
	x := &w.secrets
	x.mu.Lock()
	defer x.mu.Unlock()
	look := secretLook{w: w, reading: reading, left: maxSecretEntries, end: time.Now().Add(maxSecretTime)}
	if x.dirs == nil {
		x.dirs = map[string]*secretDir{}
	}
	x.turn++
	for _, r := range w.fixed[:w.session] {
		look.dir(r.path, time.Time{}, 0, false)
	}
	if reading && !look.stopped { // it went everywhere: of directories that are gone, nothing is kept
		maps.DeleteFunc(x.dirs, func(_ string, d *secretDir) bool { return d.turn != x.turn })
	}
	most := maxMounted
	if reading {
		most = maxSecrets
	}
	slices.SortStableFunc(look.found, func(a, b string) int { return depthOf(a) - depthOf(b) })
	if len(look.found) > most {
		return SecretFiles{look.found[:most]}, false
	}
	return SecretFiles{look.found}, !look.stopped
}

func depthOf(path string) (n int) {
	for _, c := range path {
		if c == filepath.Separator {
			n++
		}
	}
	return n
}

// ReadingSecrets looks for what is hidden from a command that only reads. whole is false
// where there is too much to look through, or to hide.
func (w *Workspace) ReadingSecrets() (found *SecretFiles, whole bool) {
	files, whole := w.secretsFor(true)
	return &files, whole
}

// secretLook is one search.
type secretLook struct {
	w       *Workspace
	reading bool
	left    int
	end     time.Time
	stopped bool
	found   []string
}

// dir looks at a directory and what lies beneath it. tracked is when the index of the
// repository around it was written, git says that it is a part of a repository's own data.
func (l *secretLook) dir(path string, tracked time.Time, depth int, git bool) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil, l.stopped, depth > maxSecretDepth, time.Now().After(l.end):
		l.stopped = true
		return
	}
	d, ok := l.known(path, info, tracked)
	if !ok {
		if d = l.list(path, info, tracked); d == nil {
			l.found = append(l.found, path) // a file in it can be opened where its name is known
			return
		}
		l.w.secrets.dirs[path] = d
	}
	if l.left -= d.entries; l.left < 0 {
		l.stopped = true
		return
	}
	d.turn = l.w.secrets.turn
	for _, f := range d.found {
		if l.reading || f.hidden {
			l.found = append(l.found, f.path)
		}
	}
	for _, below := range d.below {
		switch {
		case git && slices.Contains(gitData[:], below.name), !l.reading && slices.Contains(dependencyDirs[:], below.name):
		default:
			l.dir(below.path, d.tracked, depth+1, git || below.name == ".git")
		}
	}
}

// known returns what is remembered of a directory that has not changed.
func (l *secretLook) known(path string, info fs.FileInfo, tracked time.Time) (*secretDir, bool) {
	d, ok := l.w.secrets.dirs[path]
	if ok && d.repo {
		tracked = indexTime(path)
	}
	same := ok && os.SameFile(d.info, info) && changed(d.info).Equal(changed(info)) && d.tracked.Equal(tracked)
	return d, same && d.read.Sub(changed(info)) >= cmp.Or(l.w.secrets.settled, settledAfter)
}

// indexTime is when the index of the repository in a directory was written.
func indexTime(dir string) time.Time {
	info, err := os.Lstat(filepath.Join(dir, ".git", "index"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// list returns what is in a directory; nil where that cannot be known.
func (l *secretLook) list(path string, info fs.FileInfo, tracked time.Time) *secretDir {
	d := &secretDir{info: info, tracked: tracked, read: time.Now()}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	d.entries = len(entries)
	d.repo = slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == ".git" })
	if d.repo {
		d.tracked = indexTime(path)
	}
	for _, entry := range entries {
		abs := filepath.Join(path, entry.Name())
		hidden := l.w.o.Hidden(abs)
		switch {
		case hidden || l.w.o.Secret(abs):
			d.found = append(d.found, secretName{abs, hidden})
		case entry.IsDir():
			d.below = append(d.below, secretBelow{entry.Name(), abs})
		}
	}
	return d
}
