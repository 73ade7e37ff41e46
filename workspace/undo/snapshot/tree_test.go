package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo/snapshot"
)

// ground is a directory and a tree that looks at it.
type ground struct {
	t    *testing.T
	dir  string
	tree *snapshot.Tree
}

func newGround(t *testing.T, o snapshot.Options) *ground {
	t.Helper()
	g := &ground{t: t, dir: t.TempDir()}
	o.Roots = []rootfile.Dir{{Path: g.dir, Handle: open(t, g.dir)}}
	if o.Dir == nil {
		images := t.TempDir()
		o.Dir = func() (*os.Root, error) { return open(t, images), nil }
	}
	g.tree = snapshot.New(o)
	t.Cleanup(func() { _ = g.tree.Close() })
	return g
}

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func (g *ground) put(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		g.t.Fatal(err)
	}
}

// look is what a look found, one line for each difference, with the copy of what was there.
func (g *ground) look(ctx context.Context) (list []string, skipped snapshot.Skipped) {
	g.t.Helper()
	g.tree.Refresh(ctx, func(look snapshot.Look) {
		skipped = look.Skipped
		for _, d := range look.Diffs {
			rel, _ := filepath.Rel(g.dir, d.Path)
			list = append(list, fmt.Sprintf("%s: %s > %s", filepath.ToSlash(rel), g.form(d.Before), g.form(d.After)))
		}
	})
	return list, skipped
}

func (g *ground) form(e *snapshot.Entry) string {
	switch {
	case e == nil:
		return "nothing"
	case e.IsDir():
		return "directory"
	case e.IsLink():
		return "link to " + e.Target
	case e.Lack != "":
		return "a file of " + fmt.Sprint(e.Size)
	}
	text, err := io.ReadAll(g.tree.Reader(e))
	if err != nil {
		g.t.Error(err)
	}
	return fmt.Sprintf("%q", text)
}

// R128: what changed between two looks, with what was there before.
func TestTree_Refresh(t *testing.T) {
	t.Parallel()
	g := newGround(t, snapshot.Options{})
	for _, name := range []string{"same", "edited", "gone", "turned", "sub/deep", "dropped/x"} {
		g.put(name, "the old "+name)
	}
	if list, _ := g.look(t.Context()); len(list) != 0 {
		t.Errorf("the first look found %q", list)
	}
	g.put("edited", "the new edited") // as long as before
	g.put("sub/deep", "longer than it was before")
	g.put("new/file", "new")
	if err := errors.Join(os.Remove(filepath.Join(g.dir, "gone")), os.Remove(filepath.Join(g.dir, "turned")),
		os.Mkdir(filepath.Join(g.dir, "turned"), 0o755), os.RemoveAll(filepath.Join(g.dir, "dropped"))); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"dropped: directory > nothing", `dropped/x: "the old dropped/x" > nothing`, `edited: "the old edited" > "the new edited"`,
		`gone: "the old gone" > nothing`, "new: nothing > directory", `new/file: nothing > "new"`,
		`sub/deep: "the old sub/deep" > "longer than it was before"`, `turned: "the old turned" > directory`,
	}
	list, skipped := g.look(t.Context())
	if diff := cmp.Diff(want, list); diff != "" || skipped.Line() != "" {
		t.Errorf("skipped %q, found (-want +got):\n%s", skipped.Line(), diff)
	}
	if list, _ := g.look(t.Context()); len(list) != 0 {
		t.Errorf("nothing changed, and it found %q", list)
	}
}

// A directory that was made for a command that runs is none of the project's until something is in it.
func TestTree_Held(t *testing.T) {
	t.Parallel()
	g := newGround(t, snapshot.Options{Held: func(dir string) bool { return filepath.Base(dir) == "held" }})
	g.put("a", "text")
	g.look(t.Context())
	if err := errors.Join(os.Mkdir(filepath.Join(g.dir, "held"), 0o755), os.Mkdir(filepath.Join(g.dir, "made"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if list, _ := g.look(t.Context()); !slices.Equal(list, []string{"made: nothing > directory"}) {
		t.Errorf("found %q", list)
	}
	g.put("held/file", "new")
	if list, _ := g.look(t.Context()); !slices.Equal(list, []string{"held: nothing > directory", `held/file: nothing > "new"`}) {
		t.Errorf("found %q", list)
	}
}

// What is not looked at, and what is never read.
func TestTree_LeftOut(t *testing.T) {
	t.Parallel()
	g := newGround(t, snapshot.Options{Secret: func(path string) bool { return strings.HasSuffix(path, ".env") }})
	g.put(".gitignore", "out/\n*.log\n")
	for _, name := range []string{".git/HEAD", "node_modules/x", "out/x", "sub/out/x", "a.log", ".env"} {
		g.put(name, "one")
	}
	_, skipped := g.look(t.Context())
	if diff := cmp.Diff([]string{".git/", "node_modules/", "out/", "sub/out/"}, skipped.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	for _, name := range []string{".git/HEAD", "node_modules/x", "out/x", "sub/out/x", "a.log", ".env"} {
		g.put(name, "longer")
	}
	list, _ := g.look(t.Context())
	if diff := cmp.Diff([]string{".env: a file of 3 > a file of 6", `a.log: "one" > "longer"`}, list); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// Beyond the bounds a change is seen without its copy, and nothing is taken for deleted.
func TestTree_Bounds(t *testing.T) {
	t.Parallel()
	bounds := snapshot.DefaultBounds()
	bounds.FileBytes, bounds.Bytes = 10, 14
	g := newGround(t, snapshot.Options{Bounds: bounds})
	g.put("a", "ten bytes.")
	g.put("b", "too large for one")
	g.put("c/c", "too much")
	g.look(t.Context())
	for _, name := range []string{"a", "b", "c/c"} {
		g.put(name, "x")
	}
	list, _ := g.look(t.Context())
	// There is room for one of the two that are small enough, whichever is read first.
	first := []string{`a: "ten bytes." > "x"`, `b: a file of 17 > "x"`, `c/c: a file of 8 > "x"`}
	second := []string{`a: a file of 10 > "x"`, `b: a file of 17 > "x"`, `c/c: "too much" > "x"`}
	if !slices.Equal(list, first) && !slices.Equal(list, second) {
		t.Errorf("found %q, want %q or %q", list, first, second)
	}

	bounds = snapshot.DefaultBounds()
	bounds.Entries = 4
	g = newGround(t, snapshot.Options{Bounds: bounds})
	g.put("a", "one")
	g.put("deep/b", "one")
	g.look(t.Context())
	for i := range 5 {
		g.put(fmt.Sprintf("deep/%d", i), "x")
	}
	list, skipped := g.look(t.Context())
	if len(list) != 0 || skipped.Cut != "the first 4 entries" {
		t.Errorf("found %q, cut at %q", list, skipped.Cut)
	}
}

// A look that is stopped, or has no time, sees nothing as deleted, and the next one makes up for it.
func TestTree_NoTime(t *testing.T) {
	t.Parallel()
	g := newGround(t, snapshot.Options{})
	g.put("a", "one")
	g.look(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list, skipped := g.look(ctx); len(list) != 0 || skipped.Cut == "" {
		t.Errorf("found %q, cut at %q", list, skipped.Cut)
	}
	g.put("a", "longer")
	if list, _ := g.look(t.Context()); len(list) != 1 || !strings.HasPrefix(list[0], `a: "one"`) {
		t.Errorf("found %q", list)
	}

	bounds := snapshot.DefaultBounds()
	bounds.Copying = -time.Second
	g = newGround(t, snapshot.Options{Bounds: bounds})
	g.put("a", "one")
	g.look(t.Context())
	g.put("a", "longer")
	if list, _ := g.look(t.Context()); !cmp.Equal(list, []string{"a: a file of 3 > a file of 6"}) {
		t.Errorf("found %q", list)
	}
}

// Where no copy can be written the change is seen, and copies are made again once they can be.
func TestTree_NoRoomForCopies(t *testing.T) {
	t.Parallel()
	images, full := t.TempDir(), true
	g := newGround(t, snapshot.Options{Dir: func() (*os.Root, error) {
		if full {
			return nil, errors.New("the disk is full")
		}
		return os.OpenRoot(images)
	}})
	g.put("a", "one")
	g.look(t.Context())
	g.put("a", "second")
	full = false
	if list, _ := g.look(t.Context()); !cmp.Equal(list, []string{`a: a file of 3 > "second"`}) {
		t.Errorf("while the disk was full: %q", list)
	}
	g.look(t.Context())
	g.put("a", "the third")
	if list, _ := g.look(t.Context()); !cmp.Equal(list, []string{`a: "second" > "the third"`}) {
		t.Errorf("afterwards: %q", list)
	}
}
