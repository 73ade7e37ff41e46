//go:build !unix

package userfile

// syncDir does nothing: a directory cannot be synced here.
func syncDir(string) {}
