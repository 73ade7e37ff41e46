package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// sessionDir is the form of the names that New gives.
var sessionDir = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}-[a-z2-7]{26}$`)
})

// Sweep removes the directories under stateDir that sessions of killed
// processes left (R107), and has each tidied first. A directory whose lock is held
// belongs to a living session and stays. Links are removed, never followed. It
// returns the number of directories it removed.
func Sweep(stateDir string, tidy func(dir string)) (removed int, err error) {
	entries, err := os.ReadDir(stateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		if !entry.IsDir() || !sessionDir().MatchString(entry.Name()) {
			continue
		}
		dir := filepath.Join(stateDir, entry.Name())
		lock := newLock(dir)
		if info, err := os.Lstat(lock.Path()); err == nil && !info.Mode().IsRegular() {
			continue // not made by us
		}
		if locked, err := lock.TryLock(); err != nil || !locked {
			_ = lock.Close()
			continue
		}
		tidy(dir)
		discard(dir, lock)
		removed++
	}
	return removed, nil
}
