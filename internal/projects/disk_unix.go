//go:build unix

package projects

import (
	"os"
	"syscall"
)

// nonblock lets the opening of a pipe without a writer return at once.
const nonblock = syscall.O_NONBLOCK

// syncDir makes a rename last. A system that cannot sync a directory keeps the
// old file or the new one.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
