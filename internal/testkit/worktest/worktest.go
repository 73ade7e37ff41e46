package worktest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/launch"
	"acp-agent/internal/netns"
	"acp-agent/internal/testkit/helpertest"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// Main runs the tests of a package, or what the test's binary was started as: the helper
// that runs commands, or what confines them.
func Main(m *testing.M) {
	// Not os.Exit: the race detector would sleep for a second there.
	if len(os.Args) > 1 && os.Args[1] == launch.HelperArg {
		syscall.Exit(launch.Helper(os.Args[2:], sandbox.Step))
	}
	if len(os.Args) > 1 && os.Args[1] == netns.HoldArg {
		syscall.Exit(netns.Hold())
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.InnerArg {
		syscall.Exit(sandbox.Inner(os.Args[2:]))
	}
	code := m.Run()
	helpertest.Remove()
	os.Exit(code)
}

// isSecret is a small stand-in for the permissions' list.
func isSecret(path string) bool {
	names := strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	return slices.Contains(names, ".env") || slices.Contains(names, ".ssh")
}

// Fixture is a workspace over a fresh directory.
type Fixture struct {
	*workspace.Workspace
	// Cwd is the directory of the session. Outside is a sibling that the session may not work in; its
	// name begins with that of Cwd, which must not make it a part of Cwd.
	Cwd, Outside string
	// State is the session's private directory.
	State string
}

// New makes a workspace that ends with the test.
func New(t *testing.T, change ...func(*workspace.Options)) *Fixture {
	t.Helper()
	top := t.TempDir()
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	g := &Fixture{Cwd: filepath.Join(top, "work"), Outside: filepath.Join(top, "workspace"), State: filepath.Join(top, "state")}
	for _, dir := range []string{g.Cwd, g.Outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := workspace.Options{
		SessionID:   "ses_test",
		Directories: workspace.Directories{Cwd: g.Cwd, State: g.State, Home: top},
		Protection:  run.Protection{Secret: isSecret},
		Commands:    run.Options{Launcher: &launch.Launcher{Self: helpertest.Path()}, Environ: os.Environ()},
	}
	for _, f := range change {
		f(&o)
	}
	w, err := workspace.New(o)
	if err != nil {
		t.Fatal(err)
	}
	g.Workspace = w
	t.Cleanup(func() { g.Close(launch.ShutdownGrace) })
	return g
}

// Start returns the runtime of a call that ends with the test.
func (g *Fixture) Start(t *testing.T) *workspace.Call {
	t.Helper()
	c := g.Call("call_1", "bash", nil)
	t.Cleanup(c.Finish)
	return c
}

// In is the path of a name in the session's directory.
func (g *Fixture) In(name string) string { return filepath.Join(g.Cwd, name) }

// Put writes a file, its directories included, and returns its path.
func Put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// SaveOver replaces a file as editors do, by renaming another one.
func SaveOver(path, text string) error {
	temp := path + ".user"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// Link makes a symbolic link.
func Link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		testreq.Skip(t, "symbolic links")
	}
}

// Get reads a file.
func Get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ToolError asserts that err is a tool error of the kind, and returns it.
func ToolError(t *testing.T, err error, kind tools.ErrorKind) *tools.Error {
	t.Helper()
	var e *tools.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("error = %v, want a tool error of kind %s", err, kind)
	}
	return e
}

// Same reports a difference between two values.
func Same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Names makes a directory with so many entries, from "100" on. All are links to one empty file, which
// is quicker than to make as many files.
func Names(t *testing.T, dir string, names int) {
	t.Helper()
	if names == 0 {
		return
	}
	file := filepath.Join(t.TempDir(), "file")
	Put(t, file, "")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range names {
		if err := os.Link(file, filepath.Join(dir, strconv.Itoa(100+i))); err != nil {
			t.Fatal(err)
		}
	}
}
