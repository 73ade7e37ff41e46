//go:build !unix

package search

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

func isSeparator(c byte) bool { return os.IsPathSeparator(c) || c == ':' }

// FromRoot opens the directory that root confines. The Dir has a handle of its
// own: closing either leaves the other open.
func FromRoot(root *os.Root) (Dir, error) {
	own, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return rootDir{own}, nil
}

type rootDir struct {
	root *os.Root
}

func (d rootDir) ReadDir() ([]fs.DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
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

func (d rootDir) Open(name string) (File, error) {
	if err := d.check(name, 0); err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %q: %w", name, ErrNotRegular)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d rootDir) Sub(name string) (Dir, error) {
	if err := d.check(name, fs.ModeDir); err != nil {
		return nil, err
	}
	sub, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return rootDir{sub}, nil
}

// check refuses anything whose own type, not that of a link's target, differs
// from want.
func (d rootDir) check(name string, want fs.FileMode) error {
	if !singleElement(name) {
		return fmt.Errorf("open %q: not a single path element", name)
	}
	info, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode().Type() != want {
		return fmt.Errorf("open %q: %w", name, ErrNotRegular)
	}
	return nil
}

func (d rootDir) Close() error { return d.root.Close() }
