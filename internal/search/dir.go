package search

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// maxDirEntries bounds what one directory may hold in memory at once. A
// directory with more is read up to here and the result says Truncated.
const maxDirEntries = 1 << 18

// ErrDirTooBig goes with the entries read so far when a directory has more
// entries than the engine is willing to hold.
var ErrDirTooBig = errors.New("directory has too many entries")

// ErrNotRegular is the refusal of [Dir.Open] for anything but a plain file.
var ErrNotRegular = errors.New("not a regular file")

// A Dir is an open directory. Names are single path elements, never "..".
//
// A Dir is used by several goroutines at once: Open may be called while
// ReadDir or Sub runs. Close is called once, after all other calls returned.
type Dir interface {
	// ReadDir lists the directory in any order. It may return entries
	// together with an error (for instance [ErrDirTooBig]): the entries are used.
	ReadDir() ([]fs.DirEntry, error)
	// Open opens a regular file for reading. It never follows a symlink and
	// never blocks on a FIFO; anything not regular is [ErrNotRegular].
	Open(name string) (File, error)
	// Sub opens a real sub-directory, never through a symlink.
	Sub(name string) (Dir, error)
	// Close releases the handle.
	Close() error
}

// A File is what [Dir.Open] returns.
type File interface {
	io.ReadCloser
	Stat() (fs.FileInfo, error)
}

// FromFS adapts any file system to [Dir], for tests and embedded trees. The
// file system is trusted: it has no symlinks that lead outside.
func FromFS(fsys fs.FS) Dir { return fsDir{fsys: fsys, dir: "."} }

type fsDir struct {
	fsys fs.FS
	dir  string
}

func (d fsDir) ReadDir() ([]fs.DirEntry, error) { return fs.ReadDir(d.fsys, d.dir) }

func (d fsDir) Open(name string) (File, error) {
	full, err := d.child(name)
	if err != nil {
		return nil, err
	}
	f, err := d.fsys.Open(full)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %q: %w", full, ErrNotRegular)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d fsDir) Sub(name string) (Dir, error) {
	full, err := d.child(name)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(d.fsys, full)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open %q: not a directory", full)
	}
	return fsDir{fsys: d.fsys, dir: full}, nil
}

func (d fsDir) Close() error { return nil }

func (d fsDir) child(name string) (string, error) {
	if !singleElement(name) {
		return "", fmt.Errorf("open %q: not a single path element", name)
	}
	return path.Join(d.dir, name), nil
}

// singleElement reports whether name can be looked up in one directory without
// leaving it.
func singleElement(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	for i := range len(name) {
		if name[i] == '/' || name[i] == 0 || isSeparator(name[i]) {
			return false
		}
	}
	return true
}
