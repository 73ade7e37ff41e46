//go:build unix

package regularfile_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"acp-agent/internal/regularfile"
)

// TestRead_Pipe shows that a pipe that no one writes to is refused and not waited for.
func TestRead_Pipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := regularfile.Read(path, 100); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v, want that it is not a regular file", err)
	}
}
