//go:build unix && !linux

package search

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// ReadDir lists through a second handle, which os.File may own and close.
func (d *rawDir) ReadDir() ([]fs.DirEntry, error) {
	fd, err := openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Err: err}
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	entries, err := f.ReadDir(maxDirEntries)
	switch {
	case errors.Is(err, io.EOF):
		return entries, nil
	case err == nil && len(entries) == maxDirEntries:
		return entries, ErrDirTooBig
	}
	return entries, err
}
