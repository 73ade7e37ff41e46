//go:build unix

package workspace

import (
	"net"
	"os"
	"syscall"
	"testing"

	"acp-agent/tools"
)

// TestFiles_OnlyRegular opens what would block, never end, or have effects.
func TestFiles_OnlyRegular(t *testing.T) {
	g := newFixture(t, func(o *Options) { o.Directories.Read = []string{"/dev"} })
	if err := syscall.Mkfifo(g.in("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(g.cwd) // a socket's path must be short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	files := g.call(t).FS()
	for _, path := range []string{"fifo", "socket", "/dev/zero", "fifo/"} {
		_, err := files.Open(t.Context(), path)
		toolError(t, err, tools.BadInput)
		_, err = files.ReadText(t.Context(), path)
		toolError(t, err, tools.BadInput)
	}
	for _, path := range []string{"fifo", "socket"} {
		toolError(t, files.WriteText(t.Context(), path, "x", nil), tools.BadInput)
		if info, err := os.Lstat(g.in(path)); err != nil || info.Mode().IsRegular() {
			t.Errorf("%s was replaced: %v, %v", path, info, err)
		}
	}
}

func TestFiles_SwappedForFIFO(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "x")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			swap(g.in("file"), func(p string) error { return syscall.Mkfifo(p, 0o600) })
			swap(g.in("file"), func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) })
		}
	}()
	files := g.call(t).FS()
	for range 500 {
		if f, err := files.Open(t.Context(), "file"); err == nil {
			f.Close()
		}
	}
	close(stop)
	<-done
}
