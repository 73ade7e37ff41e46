package private

import (
	"os"

	"github.com/gofrs/flock"
)

// removeLocked lets go of the lock first: an open file cannot be removed.
func removeLocked(dir string, lock *flock.Flock) {
	_ = lock.Close()
	_ = os.Remove(lock.Path())
	_ = os.Remove(dir)
}
