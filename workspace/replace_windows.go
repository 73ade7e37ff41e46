package workspace

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file inherits the directory's access list.
func keepOwner(*os.File, fs.FileInfo) {}

// sameGroup is false: the system has no setgid bit.
func sameGroup(*os.File, fs.FileInfo) bool { return false }

// hasOtherNames reports whether a file has other names, which is not known here.
func hasOtherNames(fs.FileInfo) bool { return false }

// syncDir does nothing: Windows cannot flush a directory.
func syncDir(*os.Root) error { return nil }
