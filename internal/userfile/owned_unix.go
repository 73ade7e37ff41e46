//go:build unix

package userfile

import (
	"io/fs"
	"os"
	"syscall"
)

// NoFollow is a flag of os.OpenFile that refuses a link in the place of a file.
const NoFollow = syscall.O_NOFOLLOW

// Owned reports whether a file or directory is this user's alone.
func Owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
