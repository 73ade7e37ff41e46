package workspace

import "syscall"

const (
	// openNonblock is nothing here: opening a file never waits.
	openNonblock = 0
	// dirSuffix is nothing here: a handle to a file is no root.
	dirSuffix = ""

	errNotDir = syscall.ENOTDIR
)
