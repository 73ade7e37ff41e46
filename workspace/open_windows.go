package workspace

import "syscall"

const (
	// dirSuffix is nothing here: a handle to a file is not a root.
	dirSuffix = ""

	errNotDir = syscall.ENOTDIR
)
