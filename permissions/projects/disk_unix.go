//go:build unix

package projects

import "syscall"

// nonblock lets the opening of a pipe without a writer return at once.
const nonblock = syscall.O_NONBLOCK
