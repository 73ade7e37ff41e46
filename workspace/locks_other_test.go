//go:build !linux

package workspace

import "testing"

// needSeparateLocks skips where a process is not held out by itself.
func needSeparateLocks(t *testing.T) {
	t.Helper()
	t.Skip("a process is not held out by itself")
}
