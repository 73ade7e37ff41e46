package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"acp-agent/internal/search"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

// onlyOutside is a name that only a listing of what is outside has.
const onlyOutside = "only-outside"

// swapped is a workspace in which a directory and a link out, and a file and a link
// out, change places all the time.
type swapped struct {
	*fixture
	dir   *os.Root // the directory, whatever its name is at the moment
	swaps atomic.Int64
}

// names are in the directory, and outside under the same names.
var swappedNames = []string{"file", "gone", "moved", "leaf"}

func newSwapped(t *testing.T) *swapped {
	t.Helper()
	s := &swapped{fixture: newFixture(t)}
	for _, name := range swappedNames {
		put(t, s.in("dir/"+name), "inside\n")
		put(t, filepath.Join(s.outside, name), canary+"\n")
	}
	put(t, filepath.Join(s.outside, onlyOutside), canary)
	link(t, s.outside, s.in("away"))
	link(t, filepath.Join(s.outside, "leaf"), s.in("dir/leaf.away"))
	var err error
	if s.dir, err = os.OpenRoot(s.in("dir")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.dir.Close() })
	return s
}

// hammer swaps until the test has seen enough.
func (s *swapped) hammer(t *testing.T) (stop func()) {
	t.Helper()
	root, err := os.Open(s.cwd)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(s.in("dir"))
	if err != nil {
		t.Fatal(err)
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			default:
			}
			fd, a, b := root.Fd(), "dir", "away"
			if i%4 == 3 {
				fd, a, b = dir.Fd(), "leaf", "leaf.away"
			}
			// There, a moment, and back; the pauses are out of step with what they race.
			for _, pause := range []int{i % 20, i * 7 % 200} {
				if unix.Renameat2(int(fd), a, int(fd), b, unix.RENAME_EXCHANGE) == nil {
					s.swaps.Add(1)
				}
				for range pause {
					_, _ = root.Stat()
				}
			}
		}
	}()
	return func() {
		close(over)
		<-done
		root.Close()
		dir.Close()
	}
}

// TestFiles_SwappedDirectory swaps a directory for a link between check and use, and
// does to it whatever a tool can do: nothing outside is read or changed, and inside the
// work goes on. The short form has fewer rounds.
func TestFiles_SwappedDirectory(t *testing.T) {
	t.Parallel()
	s := newSwapped(t)
	before := listing(t, s.outside)
	rounds := testreq.Rounds(400, 2_000)
	files := s.call(t).FS()
	ops := s.ops(files)
	names := []string{"read", "open", "glob", "grep", "list", "write", "edit", "remove", "rename"}
	done := map[string]int{}
	stop := s.hammer(t)
	for i := 0; i < rounds || s.swaps.Load() < int64(rounds); i++ {
		op := names[i%len(names)]
		for _, name := range []string{"gone", "file", "leaf"} {
			if _, err := s.dir.Lstat(name); err != nil {
				_ = s.dir.WriteFile(name, []byte("inside\n"), 0o644)
			}
		}
		text, err := ops[op](t.Context(), i)
		if strings.Contains(text, canary) {
			t.Errorf("%s read what lies outside", op)
			break
		}
		if err == nil {
			done[op]++
		}
	}
	stop()
	same(t, "outside", listing(t, s.outside), before)
	for _, op := range names {
		if done[op] == 0 {
			t.Errorf("%s never succeeded", op)
		}
	}
	t.Logf("%d swaps, done: %v", s.swaps.Load(), done)
}

// ops are what tools do with files. Each gives what it read.
func (s *swapped) ops(files tools.FS) map[string]func(context.Context, int) (string, error) {
	name := func(i int, names ...string) string { return "dir/" + names[i/16%len(names)] }
	find := func(ctx context.Context, do func(search.Dir) (string, error)) (string, error) {
		dir, err := files.Dir(ctx, "dir")
		if err != nil {
			return "", err
		}
		defer dir.Close()
		return do(dir)
	}
	return map[string]func(context.Context, int) (string, error){
		"read": func(ctx context.Context, i int) (string, error) {
			text, err := files.ReadText(ctx, name(i, "file", "leaf"))
			return text.Content, err
		},
		"open": func(ctx context.Context, i int) (string, error) {
			f, err := files.Open(ctx, name(i, "file", "leaf"))
			if err != nil {
				return "", err
			}
			defer f.Close()
			body, err := io.ReadAll(f)
			return string(body), err
		},
		"list": func(ctx context.Context, _ int) (string, error) {
			entries, _, err := files.List(ctx, "dir", 0)
			if slices.ContainsFunc(entries, func(e tools.DirEntry) bool { return e.Name == onlyOutside }) {
				return canary, err
			}
			return "", err
		},
		"glob": func(ctx context.Context, _ int) (string, error) {
			return find(ctx, func(dir search.Dir) (string, error) {
				found, err := search.Glob(ctx, dir, search.GlobOptions{Base: "/", Pattern: "**"})
				if slices.ContainsFunc(found.Paths, func(p string) bool { return strings.Contains(p, onlyOutside) }) {
					return canary, err
				}
				return "", err
			})
		},
		"grep": func(ctx context.Context, _ int) (string, error) {
			return find(ctx, func(dir search.Dir) (string, error) {
				found, err := search.Grep(ctx, dir, search.GrepOptions{Base: "/", Pattern: "inside|" + canary}, io.Discard)
				return fmt.Sprint(found), err
			})
		},
		"write": func(ctx context.Context, i int) (string, error) {
			return "", files.WriteText(ctx, name(i, "file", "leaf", "new/deep"), "inside\n", nil)
		},
		"edit": func(ctx context.Context, i int) (string, error) {
			path := name(i, "file", "leaf")
			text, err := files.ReadText(ctx, path)
			if err != nil {
				return "", err
			}
			return text.Content, files.WriteText(ctx, path, "inside\n", &text)
		},
		"remove": func(ctx context.Context, i int) (string, error) {
			return "", files.Remove(ctx, name(i, "gone", "leaf"), nil)
		},
		"rename": func(ctx context.Context, i int) (string, error) {
			_ = s.dir.Remove("moved")
			return "", files.Rename(ctx, name(i, "gone", "file"), "dir/moved")
		},
	}
}

// listing is all that lies below a directory: names, kinds, times and contents.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		found = append(found, fmt.Sprint(path, info.Mode(), info.ModTime(), get(t, path)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
