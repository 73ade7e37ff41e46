package userfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a lock is tried that another process holds.
const lockPoll = 10 * time.Millisecond

// Lock keeps other processes, and other callers in this one, from what the file at path
// stands for, until unlock. It makes the file. That wait is over, or ctx, is an error.
func Lock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	lock := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lock.TryLockContext(ctx, lockPoll)
	switch {
	case errors.Is(err, context.DeadlineExceeded), err == nil && !ok:
		return nil, fmt.Errorf("another process holds %s and did not let go of it within %v", path, wait)
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = lock.Close() }, nil
}

// Read returns what a file of at most most bytes holds; a longer one is an error. Which
// files it refuses, Open says.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d KiB", most>>10)
	}
	return data, err
}

// Missing reports whether there is nothing at a path.
func Missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// tempEnd is what the name of a file ends in while Replace writes it.
const tempEnd = ".tmp"

// Remove removes a file whatever it is, with what a Replace of it left that was killed. That
// there is none is not an error.
func Remove(path string) error {
	var failed error
	for _, name := range []string{path + tempEnd, path} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// Replace puts a file in the place of another in one step: a reader sees the one or
// the other, also after a crash. Only one may do so at a time; see Lock.
func Replace(path string, data []byte) error {
	temp := path + tempEnd
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // left by a process that was killed
	}
	f, err := Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return err
	}
	SyncDir(filepath.Dir(path))
	return nil
}
