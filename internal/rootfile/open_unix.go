//go:build unix

package rootfile

import "syscall"

// Nonblock is a flag that keeps an open from waiting for a FIFO's other end.
const Nonblock = syscall.O_NONBLOCK
