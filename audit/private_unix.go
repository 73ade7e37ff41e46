//go:build unix

package audit

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow refuses a link in the place of a file.
const noFollow = syscall.O_NOFOLLOW

// ownedPrivately reports whether a directory or file is this user's alone.
func ownedPrivately(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
