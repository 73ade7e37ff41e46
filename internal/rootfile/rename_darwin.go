package rootfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exchange swaps two names of one directory at once.
func Exchange(dir *os.Root, a, b string) error {
	return withFD(dir, func(fd int) error {
		return cannot(unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP))
	})
}

// RenameNew moves a file to a name that nothing has.
func RenameNew(from *os.Root, name string, to *os.Root, newName string) error {
	return withFD(from, func(fd int) error {
		return withFD(to, func(toFD int) error {
			return cannot(unix.RenameatxNp(fd, name, toFD, newName, unix.RENAME_EXCL))
		})
	})
}

// cannot marks what the system or the file system does not offer.
func cannot(err error) error {
	for _, not := range []error{unix.EINVAL, unix.ENOTSUP, unix.EXDEV} {
		if errors.Is(err, not) {
			return errors.ErrUnsupported
		}
	}
	return err
}
