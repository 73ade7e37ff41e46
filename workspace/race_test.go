package workspace

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiles_SwappedForLink replaces a file by a link to a secret and to a file
// outside, again and again, while it is read.
func TestFiles_SwappedForLink(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("dir/file"), "harmless")
	put(t, g.in("dir/.env"), "SECRET")
	put(t, g.in(".ssh/file"), "SECRET")
	put(t, filepath.Join(g.outside, "file"), "SECRET")
	stop := make(chan struct{})
	done := make(chan struct{})
	targets := []string{".env", filepath.Join(g.outside, "file")}
	dirs := []string{".ssh", g.outside}
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			swap(g.in("dir/file"), func(p string) error { return os.Symlink(targets[i%2], p) })
			swap(g.in("dir/file"), func(p string) error { return os.WriteFile(p, []byte("harmless"), 0o600) })
			if os.Rename(g.in("dir"), g.in("dir.away")) == nil {
				_ = os.Symlink(dirs[i%2], g.in("dir"))
				_ = os.Remove(g.in("dir"))
				_ = os.Rename(g.in("dir.away"), g.in("dir"))
			}
		}
	}()
	files := g.call(t).FS()
	read := 0
	for range 1000 {
		f, err := files.Open(t.Context(), "dir/file")
		if err != nil {
			continue
		}
		body, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			continue
		}
		if strings.Contains(string(body), "SECRET") {
			t.Error("a swapped link was followed")
			break
		}
		read++
	}
	close(stop)
	<-done
	if read == 0 {
		t.Error("no read ever succeeded")
	}
}

// TestPlace_EnterProves swaps a directory for a link beside it while it is
// entered: what is entered is the directory, or nothing.
func TestPlace_EnterProves(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("dir/file"), "x")
	put(t, g.in(".ssh/key"), "x")
	link(t, ".ssh", g.in("link"))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(g.in("dir"), g.in("away"))
			_ = os.Rename(g.in("link"), g.in("dir"))
			_ = os.Rename(g.in("dir"), g.in("link"))
			_ = os.Rename(g.in("away"), g.in("dir"))
		}
	}()
	r := g.fixed[0]
	entered := 0
	for range 100_000 {
		p := &place{root: r, dir: r.handle, name: "."}
		if p.enter("dir") != nil {
			continue
		}
		entered++
		_, err := p.dir.Lstat("key")
		p.close()
		if err == nil {
			t.Error("a link was entered")
			break
		}
	}
	close(stop)
	<-done
	if entered == 0 {
		t.Error("the directory was never entered")
	}
}

// swap puts what is made in the place of a path, at once.
func swap(path string, make func(string) error) {
	temp := path + ".swap"
	if make(temp) == nil {
		_ = os.Rename(temp, path)
	}
}
