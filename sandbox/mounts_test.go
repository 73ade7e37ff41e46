package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
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
