package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/userfile"
	"acp-agent/tools"
)

// otherProcess takes the lock of a path as another agent process would.
func otherProcess(t *testing.T, dir, path string) (unlock func()) {
	t.Helper()
	ranges, err := userfile.OpenRanges(filepath.Join(dir, locksName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ranges.Close() })
	unlock, err = ranges.Lock(t.Context(), lockKey(path), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

// TestLocks_OtherProcess waits for another process: as long as the call lasts, not for
// ever, and only for the file it holds, by whatever name that is asked for.
func TestLocks_OtherProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a process is not held out by itself")
	}
	locks := &Locks{Dir: filepath.Join(t.TempDir(), "locks")}
	t.Cleanup(func() { _ = locks.Close() })
	g := newFixture(t, func(o *Options) { o.Locks = locks })
	put(t, g.in("file"), "x")
	put(t, g.in("other"), "x")
	link(t, "file", g.in("link"))
	unlock := otherProcess(t, locks.Dir, g.in("file"))
	f := g.call(t).FS()
	free, err := f.Lock(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	free()
	for _, name := range []string{"file", "link"} {
		cause := errors.New("cancelled")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		if _, err := f.Lock(ctx, name); !errors.Is(err, cause) {
			t.Errorf("%s: %v, want the cause of the context", name, err)
		}
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := f.Lock(t.Context(), name)
			if failure := toolError(t, err, tools.Timeout); failure.Path != g.in("file") {
				t.Errorf("error %+v", failure)
			}
			same(t, "waited", time.Since(start).Round(time.Second), lockWait)
		})
	}
	unlock()
	free, err = f.Lock(t.Context(), "link")
	if err != nil {
		t.Fatal(err)
	}
	free()
	if n := len(locks.held); n != 0 {
		t.Errorf("%d locks are still remembered", n)
	}
}

// TestLocks_Alone goes on within the process where no file can be locked, and says so once.
func TestLocks_Alone(t *testing.T) {
	t.Parallel()
	file := put(t, filepath.Join(t.TempDir(), "file"), "")
	var said []error
	locks := &Locks{Dir: filepath.Join(file, "locks"), Alone: func(err error) { said = append(said, err) }}
	for range 3 {
		unlock, err := locks.Lock(t.Context(), "/a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := locks.Lock(ctx, "/a"); err == nil {
			t.Error("the lock was taken twice")
		}
		unlock()
	}
	if len(said) != 1 {
		t.Errorf("said %v", said)
	}
	if err := locks.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(file); err != nil {
		t.Error(err)
	}
}
