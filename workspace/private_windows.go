package workspace

import (
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// ownedPrivately trusts the access list that the directory inherits from the
// user's profile; mode bits mean nothing here.
func ownedPrivately(fs.FileInfo) bool { return true }

// removeLocked lets go of the lock first: an open file cannot be removed.
func removeLocked(dir string, lock *flock.Flock) {
	_ = lock.Close()
	_ = os.Remove(lock.Path())
	_ = os.Remove(dir)
}
