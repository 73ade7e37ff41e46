package testfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Repository returns the absolute path of a file of this repository, whichever package's
// test asks.
func Repository(tb testing.TB, elem ...string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir}, elem...)...)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no go.mod in the working directory or above it")
		}
		dir = parent
	}
}
