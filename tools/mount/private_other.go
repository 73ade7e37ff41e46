//go:build !unix

package mount

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// checkPrivate accepts everything: here permissions are inherited from the user's
// own directories.
func checkPrivate(string, fs.FileInfo) error { return nil }

// isExecutable reports a file whose name says that it can be started.
func isExecutable(name string, _ fs.FileInfo) bool {
	return slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, strings.ToLower(filepath.Ext(name)))
}

// checkRunnable accepts everything: here the name's ending decides.
func checkRunnable(string, fs.FileInfo) error { return nil }
