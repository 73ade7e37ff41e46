//go:build !unix

package projects

import "io/fs"

const (
	noFollow = 0
	nonblock = 0
)

// private trusts the access list that the directory inherits from the user's
// profile; mode bits mean nothing here.
func private(fs.FileInfo) bool { return true }

// syncDir does nothing: a directory cannot be synced here.
func syncDir(string) {}
