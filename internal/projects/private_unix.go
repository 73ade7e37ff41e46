//go:build unix

package projects

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW
	// nonblock lets the opening of a pipe without a writer return at once.
	nonblock = syscall.O_NONBLOCK
)

// private reports whether a file or directory is this user's alone.
func private(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// syncDir makes a rename last. A system that cannot sync a directory keeps the
// old file or the new one.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
