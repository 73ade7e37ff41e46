package userfile

import (
	"errors"
	"fmt"
	"os"

	"acp-agent/internal/rootfile"
)

// MakeDir makes a directory that no one else can look into, with those above it, or
// checks one that exists.
func MakeDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return CheckDir(path)
}

// CheckDir refuses a directory that others can look into, and a link in its place. Its
// error wraps fs.ErrNotExist where there is nothing.
func CheckDir(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() || !Owned(info) {
		return fmt.Errorf("%q is not a private directory of this user: it must belong to you and have mode 0700", path)
	}
	return nil
}

// Open opens a file with the flags of os.OpenFile, and refuses one that others can read or
// can have written. It follows no link and waits for no pipe. A file that it makes has mode
// 0600.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|NoFollow|rootfile.Nonblock, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !Owned(info)) {
		err = fmt.Errorf("%q is not a private file of this user: it must belong to you and have mode 0600", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
