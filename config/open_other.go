//go:build !unix

package config

// nonblock is not needed where a path cannot lead to a pipe by its name alone.
const nonblock = 0
