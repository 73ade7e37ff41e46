//go:build !linux

package workspace

import "os"

// isKernelPath knows no file systems of the kernel but by their names.
func isKernelPath(string) bool { return false }

// isKernelFile knows no file systems of the kernel but by their names.
func isKernelFile(*os.File) bool { return false }
