package userfile

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Ranges is one file whose bytes stand for names: the process that locks a byte has the
// name. The system lets go of the locks of a process that ends, however it ends, and the
// file is never removed, so no name can be locked twice through two files. The methods are
// safe for concurrent use; callers of one process that lock the same name take turns by
// themselves.
type Ranges struct{ file *os.File }

// OpenRanges opens the file, and makes it with its directory where it is missing.
func OpenRanges(path string) (*Ranges, error) {
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	file, err := Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return &Ranges{file: file}, nil
}

// Close closes the file, and with it ends all locks.
func (r *Ranges) Close() error { return r.file.Close() }

// Lost reports whether the file no longer stands where it was opened, because someone has removed
// or replaced it: its locks hold no one out who opens it now.
func (r *Ranges) Lost() bool { return Lost(r.file.Name(), r.file) }

// Lost reports whether an open file no longer stands at its path.
func Lost(path string, file interface{ Stat() (os.FileInfo, error) }) bool {
	there, err := os.Lstat(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	open, err := file.Stat()
	return err == nil && !os.SameFile(there, open)
}

// The pause between two tries grows from the first to the longest.
const (
	firstPause   = time.Millisecond
	longestPause = 20 * time.Millisecond
)

// HeldError reports that another process kept the lock of a name for too long.
type HeldError struct {
	Name string
	Wait time.Duration
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("another process holds the lock of %s and did not release it within %v", e.Name, e.Wait)
}

// Lock waits until no other process holds the name, at most as long as wait: then the
// error is a *HeldError. The error is the cause of ctx when that ends first. Any other
// error says that the system cannot lock here.
func (r *Ranges) Lock(ctx context.Context, name string, wait time.Duration) (unlock func(), err error) {
	at := position(name)
	var limit <-chan time.Time
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		taken, err := r.try(at)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", r.file.Name(), err)
		}
		if taken {
			return func() { r.free(at) }, nil
		}
		if limit == nil {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			limit = timer.C
		}
		select {
		case <-time.After(pause):
		case <-limit:
			return nil, &HeldError{Name: name, Wait: wait}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// position is the byte that stands for a name. Two names share one as good as never; then
// they wait for each other.
func position(name string) int64 {
	sum := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 2)
}
