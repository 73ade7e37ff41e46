package userfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"acp-agent/internal/userfile"
)

func TestRoom(t *testing.T) {
	dir := t.TempDir()
	if err := userfile.Room(filepath.Join(dir, "not", "yet", "there")); err != nil {
		t.Errorf("below a directory that can be written: %v", err)
	}
	if !userfile.Missing(filepath.Join(dir, "not")) {
		t.Error("it made something")
	}
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		return // for whom every directory can be written
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := userfile.Room(filepath.Join(dir, "more")); err == nil {
		t.Error("a directory that cannot be written has room")
	}
}
