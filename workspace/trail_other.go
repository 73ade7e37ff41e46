//go:build !windows

package workspace

import (
	"io/fs"
	"os"
)

// linkTarget reads a symbolic link.
func linkTarget(path string, info fs.FileInfo) (target string, isLink bool, err error) {
	if info.Mode()&fs.ModeSymlink == 0 {
		return "", false, nil
	}
	target, err = os.Readlink(path)
	return target, true, err
}

// canonicalName returns the one name of an existing path without links.
func canonicalName(path string) string { return path }

// plainPath takes off notation that names the same file.
func plainPath(path string) string { return path }
