//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// linkCount returns how many hard links a file has; 0 when that is not known.
func linkCount(_ string, info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}
