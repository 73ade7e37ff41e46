package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"acp-agent/internal/userfile"
)

// Limits bound what is stored.
type Limits struct {
	// KeepDays is how many days a session is kept after it was last written; zero means that age
	// removes none.
	KeepDays int
	// MaxBytes bounds the size of all sessions and blobs together: when it is exceeded the
	// sessions that were written longest ago go first. Zero means that size removes none.
	MaxBytes int64
}

// recent is how long MaxBytes spares a session after its last write, and grace how long files stay to
// which no session refers.
const (
	recent = 24 * time.Hour
	grace  = time.Hour
)

// Swept is the result of a sweep.
type Swept struct {
	Sessions, Blobs int
	// Bytes is the size of all that is still stored.
	Bytes int64
}

// Sweep removes sessions that are too old or too large together, and files to which no session refers. It
// spares sessions that a process has open.
func (s *Store) Sweep(ctx context.Context, l Limits) (swept Swept, err error) {
	if s == nil {
		return swept, nil
	}
	files, err := s.files()
	if err != nil || len(files) == 0 && userfile.Missing(s.o.Dir) {
		return swept, err
	}
	now := s.o.Now()
	if info, err := os.Lstat(filepath.Join(s.o.Dir, openedName)); err == nil && info.Size() > mostOpened {
		s.dropCache()
	}
	err = s.sweepLoose(now, &swept)
	total := swept.Bytes
	for _, f := range files {
		total += f.size
	}
	for i := len(files) - 1; i >= 0 && ctx.Err() == nil; i-- {
		f := files[i]
		age := now.Sub(time.Unix(0, f.updated))
		old := l.KeepDays > 0 && age > time.Duration(l.KeepDays)*24*time.Hour
		over := l.MaxBytes > 0 && total > l.MaxBytes && age > recent
		if !old && !over {
			continue
		}
		size := f.size + s.ownBlobs(f.id)
		failed := s.Delete(f.id)
		if busy := (*BusyError)(nil); errors.As(failed, &busy) {
			continue
		}
		if err = errors.Join(err, failed); failed == nil {
			swept.Sessions++
			total -= size
		}
	}
	swept.Bytes = total
	return swept, errors.Join(err, context.Cause(ctx))
}

// ownBlobs is the size of the blobs to which no other session refers.
func (s *Store) ownBlobs(id string) (size int64) {
	dir := s.path(id, blobsEnd)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && linkCount(filepath.Join(dir, entry.Name()), info) <= 2 {
			size += info.Size()
		}
	}
	return size
}

// sweepLoose removes what crashes left: files that were being written, blobs without a session, and
// references of sessions that are not stored. It adds the size of the remaining blobs to swept.
func (s *Store) sweepLoose(now time.Time, swept *Swept) error {
	entries, err := os.ReadDir(s.o.Dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		id, blobs := strings.CutSuffix(entry.Name(), blobsEnd)
		temp := strings.HasSuffix(entry.Name(), tempEnd)
		if !blobs && !temp { // not the thousands of records
			continue
		}
		name := filepath.Join(s.o.Dir, entry.Name())
		info, stat := entry.Info()
		if stat != nil || now.Sub(info.ModTime()) < grace {
			continue
		}
		switch {
		case blobs && entry.IsDir() && userfile.Missing(s.path(id, recordEnd)):
			err = errors.Join(err, s.Delete(id))
		case temp && entry.Type().IsRegular():
			err = errors.Join(err, userfile.Remove(name))
		}
	}
	shared := filepath.Join(s.o.Dir, blobsName)
	return errors.Join(err, sweepDir(shared, now, swept, func(dir fs.DirEntry) error {
		return sweepDir(filepath.Join(shared, dir.Name()), now, swept, func(fs.DirEntry) error { return nil })
	}))
}

// sweepDir removes files that have no other link, and calls below with directories.
func sweepDir(dir string, now time.Time, swept *Swept, below func(fs.DirEntry) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			err = errors.Join(err, below(entry))
			continue
		}
		name := filepath.Join(dir, entry.Name())
		info, stat := entry.Info()
		if stat != nil || !info.Mode().IsRegular() {
			continue
		}
		if linkCount(name, info) != 1 || now.Sub(info.ModTime()) < grace {
			swept.Bytes += info.Size()
			continue
		}
		if removed := userfile.Remove(name); removed != nil {
			err = errors.Join(err, removed)
			continue
		}
		swept.Blobs++
	}
	return err
}
