//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// ownedPrivately reports whether a directory is this user's alone.
func ownedPrivately(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// removeLocked removes the lock's file while it is held, so that nobody can
// take a lock on a directory that is about to go.
func removeLocked(dir string, lock *flock.Flock) {
	_ = os.Remove(lock.Path())
	_ = os.Remove(dir)
	_ = lock.Close()
}
