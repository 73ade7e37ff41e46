//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"acp-agent/config"
)

// TestSystem_Pipe holds that a pipe in the place of the project's file is an error and
// not a session that waits for ever.
func TestSystem_Pipe(t *testing.T) {
	dir := t.TempDir()
	path := config.ProjectFile(dir)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	src := config.Sources{ReadFile: config.System().ReadFile}
	_, err := config.Load(src, dir)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v, want that it is not a regular file", err)
	}
}
