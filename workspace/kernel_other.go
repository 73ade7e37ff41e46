//go:build !linux

package workspace

import "os"

// isKernelPath finds none: here paths of the kernel are refused by their names alone.
func isKernelPath(string) bool { return false }

// isKernelFile finds none, as isKernelPath does.
func isKernelFile(*os.File) bool { return false }
