//go:build unix

package rootfile

import (
	"io/fs"
	"syscall"
)

// Inode is the number that the file system knows a file by; 0 when there is none.
func Inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
