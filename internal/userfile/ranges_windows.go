package userfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// try takes the lock of one byte if no other process has it. The byte lies beyond the end
// of the file, which the system allows.
func (r *Ranges) try(at int64) (bool, error) {
	err := r.control(func(handle windows.Handle) error {
		const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		return windows.LockFileEx(handle, flags, 0, 1, 0, byteAt(at))
	})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// free releases the lock of one byte. A file that is closed has released it already.
func (r *Ranges) free(at int64) {
	_ = r.control(func(handle windows.Handle) error {
		return windows.UnlockFileEx(handle, 0, 1, 0, byteAt(at))
	})
}

func byteAt(at int64) *windows.Overlapped {
	return &windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
}

func (r *Ranges) control(do func(windows.Handle) error) error {
	conn, err := r.file.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = conn.Control(func(fd uintptr) { done = do(windows.Handle(fd)) })
	return errors.Join(err, done)
}
