package userfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"acp-agent/internal/userfile"
)

// A name is for one at a time, other names are free, and the end of the holder frees it.
func TestRanges(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a process is not held out by itself")
	}
	path := filepath.Join(t.TempDir(), "locks", "edits")
	open := func() *userfile.Ranges {
		r, err := userfile.OpenRanges(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	one, other := open(), open()
	unlock, err := one.Lock(t.Context(), "/a", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if held, ok := errors.AsType[*userfile.HeldError](lockError(t, other, t.Context(), time.Millisecond)); !ok || held.Name != "/a" {
		t.Errorf("a name that is taken: %v", held)
	}
	cause := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := lockError(t, other, ctx, time.Minute); !errors.Is(err, cause) {
		t.Errorf("after the end of the context: %v", err)
	}
	free, err := other.Lock(t.Context(), "/b", time.Millisecond)
	if err != nil {
		t.Fatalf("another name: %v", err)
	}
	free()
	unlock()
	if free, err = other.Lock(t.Context(), "/a", time.Millisecond); err != nil {
		t.Fatalf("after the release: %v", err)
	}
	free()
	if _, err := one.Lock(t.Context(), "/a", time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Lock(t.Context(), "/a", time.Millisecond); err != nil {
		t.Errorf("after the end of the holder: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
}

func lockError(t *testing.T, r *userfile.Ranges, ctx context.Context, wait time.Duration) error {
	t.Helper()
	_, err := r.Lock(ctx, "/a", wait)
	if err == nil {
		t.Fatal("the name was taken twice")
	}
	return err
}
