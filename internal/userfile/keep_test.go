package userfile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/userfile"
)

// D1: what replaces a file is there whole, nothing is left of an attempt that was killed,
// and a file that is too long is not cut.
func TestReplaceAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if _, err := userfile.Read(path, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if err := os.WriteFile(path+".tmp", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "another"} {
		if err := userfile.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := userfile.Read(path, int64(len(text))); err != nil || string(got) != text {
			t.Errorf("read %q, %v; want %q", got, err, text)
		}
	}
	if _, err := os.Stat(path + ".tmp"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("beside it: %v", err)
	}
	if _, err := userfile.Read(path, 6); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("too long: %v", err)
	}
}

// A lock is for one at a time; a waiter gives up after the time that it named.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := userfile.Lock(t.Context(), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := userfile.Lock(t.Context(), path, time.Millisecond); err == nil || !strings.Contains(err.Error(), "another process holds "+path) {
		t.Errorf("a lock that is taken: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := userfile.Lock(ctx, path, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	unlock()
	again, err := userfile.Lock(t.Context(), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
