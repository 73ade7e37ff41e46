//go:build !unix

package mount

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// private accepts everything: here permissions are inherited from the user's
// own directories.
func private(string, fs.FileInfo) error { return nil }

// executable reports a file whose name says that it can be started.
func executable(name string, _ fs.FileInfo) bool {
	return slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, strings.ToLower(filepath.Ext(name)))
}

// runnable accepts everything: here the name's ending decides.
func runnable(string, fs.FileInfo) error { return nil }
