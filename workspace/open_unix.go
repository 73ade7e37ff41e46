//go:build unix

package workspace

import "syscall"

const (
	// openNonblock keeps an open from waiting for a FIFO's other end.
	openNonblock = syscall.O_NONBLOCK
	// dirSuffix makes the system refuse to open anything but a directory.
	dirSuffix = "/"

	errNotDir = syscall.ENOTDIR
)
