//go:build unix

package skills

import "syscall"

// nonblock lets the opening of a pipe without a writer return at once, should
// one take the place of a file between the look and the opening.
const nonblock = syscall.O_NONBLOCK
