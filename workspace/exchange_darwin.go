package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one directory at once.
func exchange(dir *os.Root, a, b string) error {
	return withFD(dir, func(fd int) error {
		err := unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
			return errors.ErrUnsupported
		}
		return err
	})
}
