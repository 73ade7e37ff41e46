package userfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"acp-agent/internal/userfile"
)

func TestDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := userfile.CheckDir(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	for range 2 {
		if err := userfile.MakeDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if userfile.MakeDir(dir) == nil {
		t.Error("a directory that others can look into")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if userfile.CheckDir(link) == nil {
		t.Error("a link")
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if _, err := userfile.Open(path, os.O_RDONLY); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	f, err := userfile.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if f, err := userfile.Open(dir, os.O_RDONLY); err == nil {
		f.Close()
		t.Error("a directory")
	}
	if runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		if f, err := userfile.Open(name, os.O_RDONLY); err == nil {
			f.Close()
			t.Errorf("%s was opened", filepath.Base(name))
		}
	}
}
