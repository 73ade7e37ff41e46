package lsp

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeArg makes the test binary a language server with a fault of that name.
const fakeArg = "__language_server"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == fakeArg {
		fakeServer(os.Args[2])
		return
	}
	goleak.VerifyTestMain(m)
}

// child is a server as a plain child process.
type child struct {
	io.Reader
	io.WriteCloser
	cmd  *exec.Cmd
	once sync.Once
}

func (c *child) Close() error {
	c.once.Do(func() {
		_ = c.WriteCloser.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return nil
}

// starter counts the servers that were started.
type starter struct {
	mu     sync.Mutex
	starts int
	live   []*child
}

func (s *starter) start(_ context.Context, argv []string, dir string, stderr io.Writer) (io.ReadWriteCloser, error) {
	if argv[0] == "no-such-server" {
		return nil, errors.New("not there")
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it lives beyond the start
	cmd.Dir, cmd.Stderr = dir, stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait would close it under the reader.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w.Close()
	c := &child{Reader: closing{r}, WriteCloser: in, cmd: cmd}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts++
	s.live = append(s.live, c)
	return c, nil
}

// closing closes a pipe at its end.
type closing struct{ *os.File }

func (c closing) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	if err != nil {
		c.File.Close()
	}
	return n, err
}

func (s *starter) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starts
}

// ground is a project with a manager whose only server has a fault.
type ground struct {
	*Manager
	*starter
	root string
}

func newGround(t *testing.T, fault string, change ...func(*Options)) *ground {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{starter: &starter{}, root: resolved(t, t.TempDir())}
	o := Options{
		Servers: []Server{{
			Name: "fake", Argv: []string{self, fakeArg, fault},
			Languages: map[string]string{".fake": "fake"}, Install: "make fake",
		}},
		Roots: []string{g.root}, LookPath: lookPath, Start: g.starter.start,
		Open:   func(path string) (io.ReadCloser, error) { return os.Open(path) },
		Settle: 20 * time.Millisecond, PublishWait: 5 * time.Second, StartWait: 10 * time.Second,
	}
	for _, f := range change {
		f(&o)
	}
	g.Manager = New(o)
	t.Cleanup(g.Close)
	return g
}

func resolved(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func (g *ground) path(name string) string { return filepath.Join(g.root, filepath.FromSlash(name)) }

func (g *ground) put(t *testing.T, name, text string) string {
	t.Helper()
	p := g.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func lookPath(name string) (string, bool) {
	path, err := exec.LookPath(name)
	return path, err == nil
}
