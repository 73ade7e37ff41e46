//go:build unix

package search_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"acp-agent/internal/search"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hostile is a directory with everything that could trap a walk.
func hostile(t *testing.T) string {
	t.Helper()
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("hit\n"), 0o600))
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "real"), []byte("hit\n"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "sub", "real"), []byte("hit\n"), 0o600))
	must(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")))
	must(t, os.Symlink("real", filepath.Join(dir, "inside")))
	must(t, os.Symlink(outside, filepath.Join(dir, "linkdir")))
	must(t, os.Symlink(dir, filepath.Join(dir, "sub", "loop")))
	return dir
}

func openers(t *testing.T, dir string) map[string]search.Dir {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	confined, err := search.FromRoot(root)
	must(t, err)
	must(t, root.Close()) // the Dir must not need it
	return map[string]search.Dir{"FromRoot": confined, "openDir": openDir(t, dir)}
}

func TestDir_NoWayOut(t *testing.T) {
	t.Parallel()
	dir := hostile(t)
	for name, d := range openers(t, dir) {
		t.Run(name, func(t *testing.T) {
			defer d.Close()
			res, err := search.Grep(t.Context(), d, search.GrepOptions{Base: dir, Pattern: "hit"}, nil)
			must(t, err)
			want := []string{dir + "/real:1: hit", dir + "/sub/real:1: hit"}
			if diff := cmp.Diff(want, res.Lines); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, bad := range []string{"", ".", "..", "sub/real", "/etc/passwd", "fifo", "link", "inside", "sub", "linkdir"} {
				if f, err := d.Open(bad); err == nil {
					t.Errorf("Open(%q) = %v, want an error", bad, f)
				}
			}
			for _, bad := range []string{"", ".", "..", "linkdir", "real", "sub/loop"} {
				if s, err := d.Sub(bad); err == nil {
					t.Errorf("Sub(%q) = %v, want an error", bad, s)
				}
			}
			if _, err := d.Open("fifo"); !errors.Is(err, search.ErrNotRegular) {
				t.Errorf("Open of a FIFO: %v, want ErrNotRegular", err)
			}
		})
	}
}

func TestDir_OpenReadsAndStats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("hello"), 0o640))
	for name, d := range openers(t, dir) {
		t.Run(name, func(t *testing.T) {
			defer d.Close()
			f, err := d.Open("f")
			must(t, err)
			defer f.Close()
			info, err := f.Stat()
			must(t, err)
			if info.Name() != "f" || info.Size() != 5 || info.Mode() != 0o640 {
				t.Errorf("Stat: %v %v %v", info.Name(), info.Size(), info.Mode())
			}
			if text, err := io.ReadAll(f); string(text) != "hello" || err != nil {
				t.Errorf("content %q, %v", text, err)
			}
		})
	}
}

func TestGrep_UnreadableIsCounted(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("hit\n"), 0o000))
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o000))
	must(t, os.WriteFile(filepath.Join(dir, "z"), []byte("hit\n"), 0o600))
	d := openDir(t, dir)
	defer d.Close()
	res, err := search.Grep(t.Context(), d, search.GrepOptions{Base: dir, Pattern: "hit"}, nil)
	must(t, err)
	want := search.GrepResult{Lines: []string{dir + "/z:1: hit"}, Total: 1, Files: 1, Unreadable: 2}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestGlob_LeavesNoDescriptor walks a tree deeper and wider than the number of
// directories that may be open at once on its way.
func TestGlob_LeavesNoDescriptor(t *testing.T) {
	dir := t.TempDir()
	deep := dir
	for i := range 40 {
		deep = filepath.Join(deep, fmt.Sprint("d", i))
		must(t, os.Mkdir(deep, 0o700))
		must(t, os.WriteFile(filepath.Join(deep, "f"), []byte("hit\n"), 0o600))
	}
	before := descriptors(t)
	d := openDir(t, dir)
	for range 5 {
		res, err := search.Grep(t.Context(), d, search.GrepOptions{Base: dir, Pattern: "hit"}, nil)
		must(t, err)
		if res.Total != 40 {
			t.Errorf("total %d, want 40", res.Total)
		}
	}
	must(t, d.Close())
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors open, %d before", after, before)
	}
}

// descriptors counts what is open, by asking about each small number.
func descriptors(t *testing.T) (n int) {
	t.Helper()
	for fd := range 512 {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil {
			n++
		}
	}
	return n
}
