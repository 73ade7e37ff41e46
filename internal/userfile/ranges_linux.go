package userfile

import "golang.org/x/sys/unix"

// setLock locks for the open file: another opening of it in this process is held out too,
// and closing that one releases nothing.
const setLock = unix.F_OFD_SETLK
