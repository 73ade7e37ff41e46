//go:build !unix

package projects

// nonblock is not needed where pipes have no names in directories.
const nonblock = 0

// syncDir does nothing: a directory cannot be synced here.
func syncDir(string) {}
