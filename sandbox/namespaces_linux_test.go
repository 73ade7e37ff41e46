package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The directory for temporary files may be known by a path with a link, such as one in a home
// that is a link.
func TestView_TmpBehindALink(t *testing.T) {
	for _, kind := range withView {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, kind)
			link := filepath.Join(g.dir, "link")
			if err := os.Symlink(filepath.Dir(g.request.Tmp), link); err != nil {
				t.Fatal(err)
			}
			g.request.Tmp = filepath.Join(link, filepath.Base(g.request.Tmp))
			if out, code := g.run(t, "echo made > /tmp/made && cat /tmp/made"); out != "made\n" || code != 0 {
				t.Errorf("%q, exit code %d", out, code)
			}
			if _, err := os.Stat(filepath.Join(g.request.Tmp, "made")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A command has the limit of open files that we were started with, which the runtime of Go raises, also where
// our binary stands before the command.
func TestNamespaces_OpenFiles(t *testing.T) {
	const within = "ACP_AGENT_TEST_OPEN_FILES"
	if os.Getenv(within) == "" {
		cmd := exec.Command("/bin/sh", "-c", `ulimit -Sn 256 && exec "$0" -test.run '^TestNamespaces_OpenFiles$'`, os.Args[0])
		cmd.Env = append(os.Environ(), within+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	g := newFixture(t, Namespaces)
	for _, reading := range []bool{false, true} {
		g.request.Reading = reading
		if out, _ := g.run(t, "ulimit -Sn"); out != "256\n" {
			t.Errorf("reading %t: %q", reading, out)
		}
	}
}
