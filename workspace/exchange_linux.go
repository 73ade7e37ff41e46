package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one directory at once.
func exchange(dir *os.Root, a, b string) error {
	return withFD(dir, func(fd int) error {
		err := unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
			return errors.ErrUnsupported
		}
		return err
	})
}
