package run

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"acp-agent/internal/rootfile"
)

// kept is a file as it was. Of a link only the link counts, and what is not a file of
// settings is known by its size and time alone.
type kept struct {
	mode   fs.FileMode
	text   []byte
	link   string
	opaque bool
	size   int64
	time   time.Time
	// brief is of a file that is opaque because there were many: it is known by the time
	// of its last change, which no program can set.
	brief bool
	// unread is a file of which nothing could be learned.
	unread bool
}

func (k kept) same(other kept) bool {
	return k.mode == other.mode && k.link == other.link && bytes.Equal(k.text, other.text) &&
		k.opaque == other.opaque && (!k.opaque || k.size == other.size && k.time.Equal(other.time))
}

// lookAt reads a file as it is now. It follows no link that has the name.
func lookAt(r *rootfile.Dir, name string) (kept, error) {
	local := filepath.FromSlash(name)
	info, err := r.Handle.Lstat(local)
	if err != nil {
		return kept{}, err
	}
	k := kept{mode: info.Mode()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		k.link, err = r.Handle.Readlink(local)
		return k, err
	case !info.Mode().IsRegular() || info.Size() > maxGuardedBytes:
		k.opaque, k.size, k.time = true, info.Size(), info.ModTime()
		return k, nil
	}
	f, err := r.Handle.OpenFile(local, os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return kept{}, err
	}
	defer f.Close()
	k.text, err = io.ReadAll(io.LimitReader(f, maxGuardedBytes+1))
	if len(k.text) > maxGuardedBytes { // it grew
		k.text, k.opaque, k.size, k.time = nil, true, info.Size(), info.ModTime()
	}
	return k, err
}

// lookBriefly is lookAt for one file of very many: its text is not read.
func lookBriefly(r *rootfile.Dir, name string) (kept, error) {
	info, err := r.Handle.Lstat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() {
		return lookAt(r, name)
	}
	return kept{mode: info.Mode(), opaque: true, brief: true, size: info.Size(), time: rootfile.Changed(info)}, nil
}

// look reads a file in the way in which it is remembered.
func (at *guardedRoot) look(name string) (kept, error) {
	if at.files[name].brief {
		return lookBriefly(at.root, name)
	}
	return lookAt(at.root, name)
}

// filesIn lists the files beneath a directory, at most so many; samples of hooks are
// never run. whole says that these are all. opens makes a directory readable that is not.
func filesIn(r *rootfile.Dir, dir string, most int, opens bool) (names []string, whole bool) {
	whole = true
	// What cannot be looked at cannot be put back either.
	_ = fs.WalkDir(r.Handle.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission) && opens && restoreRights(r, name, listable):
			more, all := filesIn(r, name, most-len(names), false)
			names, whole = append(names, more...), whole && all
			return fs.SkipDir
		case err != nil:
			whole = whole && errors.Is(err, fs.ErrNotExist)
			return fs.SkipDir
		case len(names) >= most:
			whole = false
			return fs.SkipAll
		case !d.IsDir() && !strings.HasSuffix(name, ".sample"):
			names = append(names, name)
		}
		return nil
	})
	return names, whole
}

func (at *guardedRoot) remember(name string) { at.rememberBy(name, lookAt) }

func (at *guardedRoot) rememberBy(name string, look func(*rootfile.Dir, string) (kept, error)) {
	if at.held > maxGuardHeld {
		look = lookBriefly
	}
	switch k, err := look(at.root, name); {
	case err == nil:
		at.files[name] = k
		at.held += len(k.text)
	case !errors.Is(err, fs.ErrNotExist):
		at.files[name] = kept{unread: true}
	}
}

// rememberAll remembers all files beneath a directory, or the link that stands for it. Of
// very many files the texts of some are kept.
func (at *guardedRoot) rememberAll(dir string) {
	if isLink(at.root, dir) {
		at.remember(dir)
		return
	}
	_, err := at.root.Handle.Lstat(filepath.FromSlash(dir))
	at.there[dir] = err == nil
	names, whole := filesIn(at.root, dir, maxGuardedNames, false)
	// The settings of programs lie above what there are many of.
	slices.SortStableFunc(names, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for i, name := range names {
		if i < maxGuardedFiles {
			at.remember(name)
		} else {
			at.rememberBy(name, lookBriefly)
		}
	}
	at.partly[dir] = !whole
}

// listable are the rights to list a directory and to reach what is in it; changeable are these
// and the right to change it.
const listable, changeable = 0o500, 0o700

// restoreRights gives the user back the rights in a directory that a command took away. It reports
// whether they were missing.
func restoreRights(r *rootfile.Dir, dir string, rights fs.FileMode) bool {
	local := filepath.FromSlash(dir)
	info, err := r.Handle.Lstat(local)
	if err != nil || !info.IsDir() || info.Mode().Perm()&rights == rights {
		return false
	}
	return r.Handle.Chmod(local, info.Mode().Perm()|rights) == nil
}

// reach unlocks the directories on the way to a name that could be looked at before.
func (at *guardedRoot) reach(name string) {
	for i := range len(name) {
		if name[i] == '/' {
			restoreRights(at.root, path.Clean(name[:i]), listable)
		}
	}
	restoreRights(at.root, name, listable)
}
