//go:build !unix

package projects

// nonblock is not needed where pipes have no names in directories.
const nonblock = 0
