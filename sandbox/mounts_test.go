package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sandbox")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"home/.ssh", "home/p/.git/hooks", "home/own/s/run", "else"} {
		if err := os.MkdirAll(in(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(in("home/.ssh"), in("link")); err != nil {
		t.Fatal(err)
	}
	p := Policy{
		Writable: []string{in("home/p"), "", ".", "/", in("absent")}, ReadOnly: []string{in("home/p/.git/hooks"), in("else")},
		Masked: []string{in("link"), in("home/own"), in("home/own/s/run"), in("home/p"), "relative"}, Readable: []string{in("home/own/s"), in("home")},
	}
	got := map[string]access{}
	for _, at := range p.places() {
		got[at.path] = at.access
	}
	want := map[string]access{
		in("home"): readable, in("home/.ssh"): masked, in("home/own"): masked, in("home/own/s"): readable, in("home/own/s/run"): masked,
		in("home/p"): masked, in("home/p/.git/hooks"): readOnly, in("else"): readOnly,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// TestResolver compares with what the library finds, each path by itself and after the others.
func TestResolver(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sandbox")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := os.MkdirAll(in("a/b/c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("a/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"toB": "a/b", "a/up": "..", "a/b/abs": in("toB"), "chain": "toB/abs/c", "dangling": "a/none/x", "loop": "loop", "toFile": "a/file",
	} {
		if err := os.Symlink(target, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{
		dir, "/", in("a"), in("a/b/c"), in("toB"), in("toB/c"), in("toB/abs/abs/c"), in("a/up/a/b"), in("chain"), in("dangling"), in("dangling/y"),
		in("loop"), in("loop/x"), in("a/file"), in("a/file/x"), in("toFile"), in("toFile/x"), in("none"), in("none/x"),
		in("a") + "/b/../file", in("toB") + "/../file", in("a") + "/", "",
	}
	shared := resolver{}
	for range 2 {
		for _, path := range paths {
			want, err := filepath.EvalSymlinks(path)
			if err != nil {
				want = ""
			}
			for name, r := range map[string]resolver{"alone": {}, "shared": shared} {
				if got := r.resolve(path); got.path != want || (got.info != nil) != (want != "") {
					t.Errorf("%s, %q is %q; want %q", name, path, got.path, want)
				}
			}
		}
	}
}

// TestPlaces_LedOut has a link in the place of a directory that is only kept in its place: it gives nothing outside.
func TestPlaces_LedOut(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sandbox")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(home, "project")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "inside"), 0o755), os.Symlink("..", filepath.Join(root, "x")), os.Symlink("inside", filepath.Join(root, "y"))); err != nil {
		t.Fatal(err)
	}
	p := Policy{Writable: []string{root, filepath.Join(root, "x"), filepath.Join(root, "y"), filepath.Join(root, "x", "project")}}
	var got []string
	for _, at := range p.places() {
		got = append(got, at.path)
	}
	if want := []string{root, filepath.Join(root, "inside")}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
