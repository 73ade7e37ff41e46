//go:build unix && !linux

package userfile

import "golang.org/x/sys/unix"

// setLock locks for the process, which opens the file once.
const setLock = unix.F_SETLK
