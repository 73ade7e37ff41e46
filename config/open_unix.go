//go:build unix

package config

import "syscall"

// nonblock lets the opening of a pipe without a writer return at once.
const nonblock = syscall.O_NONBLOCK
