//go:build !unix

package userfile

// SyncDir does nothing: a directory cannot be synced here.
func SyncDir(string) {}
