package workspace

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/launch"
	"acp-agent/internal/netns"
	"acp-agent/internal/testkit/helpertest"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// TestMain lets the test binary serve as the helper that runs commands, and as
// a process that is killed in the middle of a write.
func TestMain(m *testing.M) {
	// Not os.Exit in a child: the race detector would sleep for a second there.
	if step := os.Getenv(crashEnv); step != "" {
		syscall.Exit(crash(step, os.Args[1]))
	}
	if step := os.Getenv(batchCrashEnv); step != "" {
		syscall.Exit(crashInBatch(step, os.Args[1]))
	}
	if len(os.Args) > 1 && os.Args[1] == launch.HelperArg {
		syscall.Exit(launch.Helper(os.Args[2:], sandbox.Step))
	}
	if len(os.Args) > 1 && os.Args[1] == netns.HoldArg {
		syscall.Exit(netns.Hold())
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.InnerArg {
		syscall.Exit(sandbox.Inner(os.Args[2:]))
	}
	// Each check changes a whole tree on the disk; make long makes more of them.
	if err := flag.Set("rapid.checks", strconv.Itoa(testreq.Rounds(4, 12))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	code := m.Run()
	helpertest.Remove()
	os.Exit(code)
}

// isSecret is a small stand-in for the permissions' list.
func isSecret(path string) bool {
	for _, name := range components(path) {
		if name == ".env" || name == ".ssh" {
			return true
		}
	}
	return false
}

// fixture is a workspace over a fresh directory with a sibling outside it.
type fixture struct {
	*Workspace
	cwd, outside, state string
}

func newFixture(t *testing.T, change ...func(*Options)) *fixture {
	t.Helper()
	top := t.TempDir()
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	g := &fixture{cwd: filepath.Join(top, "work"), outside: filepath.Join(top, "workspace"), state: filepath.Join(top, "state")}
	for _, dir := range []string{g.cwd, g.outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{
		SessionID:   "ses_test",
		Directories: Directories{Cwd: g.cwd, State: g.state, Home: top},
		Protection:  run.Protection{Secret: isSecret},
		Commands:    run.Options{Launcher: &launch.Launcher{Self: helpertest.Path()}, Environ: os.Environ()},
	}
	for _, f := range change {
		f(&o)
	}
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	g.Workspace = w
	t.Cleanup(func() { g.Close(launch.ShutdownGrace) })
	return g
}

// call returns the runtime of a call that ends with the test.
func (g *fixture) call(t *testing.T) *Call {
	t.Helper()
	c := g.Call("call_1", "bash", nil)
	t.Cleanup(c.Finish)
	return c
}

func (g *fixture) in(name string) string { return filepath.Join(g.cwd, name) }

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		testreq.Skip(t, "symbolic links")
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// toolError asserts that err is a tool error of the kind, and returns it.
func toolError(t *testing.T, err error, kind tools.ErrorKind) *tools.Error {
	t.Helper()
	var e *tools.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("error = %v, want a tool error of kind %s", err, kind)
	}
	return e
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// recorder is a sink that keeps what it is given.
type recorder struct {
	mu     sync.Mutex
	events []transcript.Event
}

func (r *recorder) Emit(e transcript.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.events {
		if out, ok := e.(transcript.ToolOutput); ok {
			b.WriteString(out.Text)
		}
	}
	return b.String()
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := put(t, filepath.Join(dir, "file"), "x")
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"no session id", Options{Directories: Directories{Cwd: dir}}, "session id"},
		{"session id with a path in it", Options{SessionID: "../x", Directories: Directories{Cwd: dir}}, "session id"},
		{"relative cwd", Options{SessionID: "s", Directories: Directories{Cwd: "work"}}, "not an absolute path"},
		{"empty cwd", Options{SessionID: "s"}, "not an absolute path"},
		{"missing cwd", Options{SessionID: "s", Directories: Directories{Cwd: filepath.Join(dir, "gone")}}, "file does not exist"},
		{"cwd is a file", Options{SessionID: "s", Directories: Directories{Cwd: file}}, "is not a directory"},
		{"relative additional directory", Options{SessionID: "s", Directories: Directories{Cwd: dir, Additional: []string{"x"}}}, "not an absolute path"},
		{"missing additional directory", Options{SessionID: "s", Directories: Directories{Cwd: dir, Additional: []string{dir + "/gone"}}}, "file does not exist"},
		{"relative state directory", Options{SessionID: "s", Directories: Directories{Cwd: dir, State: "state"}}, "not an absolute path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := New(tt.o)
			if err == nil {
				w.Close(0)
				t.Fatal("New succeeded")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
		})
	}
}

func TestNew_TouchesNothing(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) { o.Directories.Read = []string{"/no/such/cache"} })
	_ = g.Session()
	if _, err := os.Stat(g.state); !os.IsNotExist(err) {
		t.Errorf("the state directory exists before its first use: %v", err)
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	more := t.TempDir()
	g := newFixture(t, func(o *Options) { o.Directories.Additional = []string{more + "/."} })
	s := g.Session()
	real, err := filepath.EvalSymlinks(more)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "roots", s.Roots, []string{g.cwd, real})
	same(t, "cwd", s.Cwd, g.cwd)
	if !strings.HasPrefix(s.Scratch, g.state) {
		t.Errorf("scratch %q does not lie in the state directory", s.Scratch)
	}
	same(t, "limits", s.Limits, tools.CanonicalLimits())
	put(t, g.in("a/file"), "x")
	link(t, g.in("a"), g.in("b"))
	same(t, "resolved", s.Resolve(g.in("b/file")), g.in("a/file"))
	same(t, "resolved with a missing end", s.Resolve(g.in("b/no/file")), g.in("a/no/file"))
}

func TestClose_EndsEverything(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "x")
	c := g.Call("call_1", "read", nil)
	if _, err := c.Sidecar(); err != nil {
		t.Fatal(err)
	}
	g.Close(time.Second)
	g.Close(time.Second)
	if _, err := c.FS().Open(t.Context(), g.in("file")); err == nil {
		t.Error("a file was opened after Close")
	}
	if _, err := c.Sidecar(); err == nil {
		t.Error("a sidecar was opened after Close")
	}
	entries, err := os.ReadDir(g.state)
	if err != nil || len(entries) != 0 {
		t.Errorf("left in the state directory: %v, %v", entries, err)
	}
}
