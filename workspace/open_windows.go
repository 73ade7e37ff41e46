package workspace

import "syscall"

const (
	// dirSuffix is nothing here: a handle to a file is no root.
	dirSuffix = ""

	errNotDir = syscall.ENOTDIR
)
