package testfile

import (
	"os"
	"path/filepath"
)

// fataler is what a test has that can end.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Repository returns the absolute path of a file of this repository, whichever package's
// test asks.
func Repository(tb fataler, elem ...string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatalf("find the repository: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir}, elem...)...)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatalf("no go.mod in the working directory or above it")
		}
		dir = parent
	}
}
