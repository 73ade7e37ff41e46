package userfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// leastRoom is what must be free on a disk for it to count as one that can be written, in
// bytes.
const leastRoom = 1 << 20

// Room returns an error when no files can be made in a directory, or, where it does not
// exist yet, in the nearest one above it: for want of the right, or of a megabyte of space.
// It makes nothing.
func Room(dir string) error {
	for {
		_, err := os.Stat(dir)
		above := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || above == dir {
			if err != nil {
				return err
			}
			return checkRoom(dir)
		}
		dir = above
	}
}
