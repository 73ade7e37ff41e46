//go:build unix

package userfile

import "os"

// SyncDir makes a rename last. A system that cannot sync a directory keeps the
// old file or the new one.
func SyncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
