//go:build linux || darwin

package userfile

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// checkRoom asks whether files can be made in a directory that exists, without making one.
func checkRoom(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("write in %s: %w", dir, err)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return nil // a system that does not tell is not held to be full
	}
	// Some file systems have no sizes: they are not full.
	if disk.Blocks > 0 && uint64(disk.Bavail)*uint64(disk.Bsize) < leastRoom || disk.Files > 0 && disk.Ffree == 0 {
		return fmt.Errorf("write in %s: %w", dir, unix.ENOSPC)
	}
	return nil
}
