//go:build unix

package workspace

import "syscall"

const (
	// dirSuffix makes the system refuse to open anything but a directory.
	dirSuffix = "/"

	errNotDir = syscall.ENOTDIR
)
