package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// files lists the sessions' files, the one that was written last first.
func files(dir string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []fs.FileInfo
	for _, entry := range entries {
		id, ours := strings.CutSuffix(entry.Name(), fileEnd)
		if !ours || !isSession(id) || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil { // else it is gone by now
			list = append(list, info)
		}
	}
	slices.SortStableFunc(list, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	return list, nil
}

// Sweep removes the files of sessions that were last written before a time, and returns the number of
// sessions. It does nothing where there is no directory.
func Sweep(dir string, since time.Time) (removed int, err error) {
	list, err := files(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, info := range list {
		if !info.ModTime().Before(since) {
			continue
		}
		name := filepath.Join(dir, info.Name())
		failed := os.Remove(name)
		if head := os.Remove(strings.TrimSuffix(name, fileEnd) + headEnd); !errors.Is(head, fs.ErrNotExist) {
			failed = errors.Join(failed, head)
		}
		if failed == nil {
			removed++
		}
		err = errors.Join(err, failed)
	}
	return removed, err
}
