//go:build unix

package userfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// try takes the lock of one byte if no other process has it.
func (r *Ranges) try(at int64) (bool, error) {
	err := r.set(at, unix.F_WRLCK)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// free releases the lock of one byte. A file that is closed has released it already.
func (r *Ranges) free(at int64) { _ = r.set(at, unix.F_UNLCK) }

func (r *Ranges) set(at int64, kind int16) error {
	conn, err := r.file.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = conn.Control(func(fd uintptr) {
		for {
			done = unix.FcntlFlock(fd, setLock, &unix.Flock_t{Type: kind, Start: at, Len: 1})
			if !errors.Is(done, unix.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, done)
}
