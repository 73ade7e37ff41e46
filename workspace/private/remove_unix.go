//go:build unix

package private

import (
	"os"

	"github.com/gofrs/flock"
)

// removeLocked removes the lock's file while it is held, so that no other process can
// take a lock on a directory that is about to go.
func removeLocked(dir string, lock *flock.Flock) {
	_ = os.Remove(lock.Path())
	_ = os.Remove(dir)
	_ = lock.Close()
}
