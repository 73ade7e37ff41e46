//go:build linux || darwin

package launch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// client is a command in a client's terminal.
type client struct {
	dir   string
	argv  []string
	p     *Process
	out   *output // what the agent gets
	cmd   *exec.Cmd
	shown *output // what the terminal shows
}

func prepare(t *testing.T, s Spec) *client {
	t.Helper()
	c := &client{dir: t.TempDir(), out: newOutput(), shown: newOutput()}
	var err error
	c.argv, c.p, err = launcher(t).PrepareTerminal(c.dir, s, c.out)
	if err != nil {
		t.Fatal(err)
	}
	c.cmd = exec.Command(c.argv[0], c.argv[1:]...)
	c.cmd.Stdout, c.cmd.Stderr = c.shown, c.shown
	c.cmd.Env = append(os.Environ(), "LAUNCH_TEST_LEAK=secret")
	t.Cleanup(func() {
		c.p.Stop(0)
		<-c.p.Done()
	})
	return c
}

// start runs it as a client does, and leaves no process at the end of the test.
func (c *client) start(t *testing.T) {
	t.Helper()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.p.Stop(0)
		_ = c.cmd.Wait()
	})
}

func TestTerminal_StreamReachesBoth(t *testing.T) {
	t.Parallel()
	c := prepare(t, spec(t, "echo one; echo two >&2; head -c 200000 /dev/zero | tr '\\0' x; echo ${LAUNCH_TEST_LEAK-clean}; exit 9"))
	c.start(t)
	got, err := wait(t, c.p)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait()
	if d := cmp.Diff(Status{ExitCode: 9}, got); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
	}
	if code := c.cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("the client saw exit code %d; want 9", code)
	}
	want := "one\ntwo\n" + strings.Repeat("x", 200000) + "clean\n"
	if d := cmp.Diff(want, c.out.String()); d != "" {
		t.Errorf("agent's stream (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, c.shown.String()); d != "" {
		t.Errorf("terminal (-want +got):\n%s", d)
	}
}

func TestTerminal_LeavesNoFile(t *testing.T) {
	t.Parallel()
	c := prepare(t, spec(t, "echo secret-text; cat"))
	if line := strings.Join(c.argv, " "); strings.Contains(line, "secret-text") {
		t.Errorf("the command line shows the command: %s", line)
	}
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && path != c.dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", d.Name(), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	c.start(t)
	if _, err := wait(t, c.p); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(c.dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTerminal_Stop(t *testing.T) {
	t.Parallel()
	c := prepare(t, spec(t, "trap '' TERM; sleep 300 & echo up; while :; do sleep 300; done"))
	c.start(t)
	<-c.out.wrote
	c.p.Stop(50 * time.Millisecond)
	if got, err := wait(t, c.p); err != nil || got.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v; want SIGKILL", got, err)
	}
}

// A client that kills its terminal may send HUP, or KILL to the helper.
func TestTerminal_ClientKills(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			c := prepare(t, spec(t, "echo up; sleep 300"))
			c.start(t)
			<-c.out.wrote
			_ = c.cmd.Process.Signal(sig)
			if got, err := wait(t, c.p); err != nil || got.Signal != "SIGTERM" {
				t.Errorf("got %+v, %v; want SIGTERM", got, err)
			}
		})
	}
	t.Run("kill", func(t *testing.T) {
		t.Parallel()
		c := prepare(t, spec(t, "sleep 300 & echo up; sleep 300"))
		c.start(t)
		<-c.out.wrote
		_ = c.cmd.Process.Kill()
		if _, err := wait(t, c.p); !errors.Is(err, ErrLost) {
			t.Errorf("got %v; want %v", err, ErrLost)
		}
	})
}

func TestTerminal_StartError(t *testing.T) {
	t.Parallel()
	s := spec(t, "true")
	s.Dir = "/no/such/dir"
	c := prepare(t, s)
	c.start(t)
	if _, err := wait(t, c.p); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v; want a missing directory", err)
	}
}

func TestTerminal_Abandoned(t *testing.T) {
	t.Parallel()
	c := prepare(t, spec(t, "echo never"))
	c.p.Stop(StopGrace)
	if _, err := wait(t, c.p); !errors.Is(err, ErrNotStarted) {
		t.Errorf("got %v; want %v", err, ErrNotStarted)
	}
	if err := c.cmd.Run(); err == nil || strings.Contains(c.shown.String(), "never") {
		t.Errorf("a late client ran the command: %v, %q", err, c.shown)
	}
	if left, err := os.ReadDir(c.dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A terminal that no one reads holds the command up, but not its end.
func TestTerminal_StuckTerminal(t *testing.T) {
	t.Parallel()
	c := prepare(t, spec(t, "yes"))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c.cmd.Stdout, c.cmd.Stderr = w, w
	c.start(t)
	w.Close()
	<-c.out.wrote
	c.p.Stop(0)
	if _, err := wait(t, c.p); err != nil {
		t.Error(err)
	}
}

func TestHelper_RefusesForeignSpec(t *testing.T) {
	t.Parallel()
	s := spec(t, "echo never")
	line, err := s.encode(channels{})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		place func(file string) error
	}{
		{"absent", func(string) error { return nil }},
		{"readable by others", func(file string) error { return os.WriteFile(file, line, 0o644) }},
		{"no pipes", func(file string) error { return os.WriteFile(file, line, 0o600) }},
		{"not a spec", func(file string) error { return os.WriteFile(file, []byte("{"), 0o600) }},
		{"symbolic link", func(file string) error {
			return errors.Join(os.WriteFile(file+".real", line, 0o600), os.Symlink(file+".real", file))
		}},
		{"hard link", func(file string) error {
			return errors.Join(os.WriteFile(file+".real", line, 0o600), os.Link(file+".real", file))
		}},
		{"named pipe", func(file string) error { return syscall.Mkfifo(file, 0o600) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "spec")
			if err := tt.place(file); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(launcher(t).Self, HelperArg, specFlag, file).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitFailed || bytes.Contains(out, []byte("never")) {
				t.Errorf("got %v with %q; want exit code %d", err, out, exitFailed)
			}
		})
	}
}

func TestHelper_ByHand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--help"}, {specFlag}} {
		cmd := exec.Command(launcher(t).Self, slices.Concat([]string{HelperArg}, args)...)
		if err := cmd.Run(); err == nil {
			t.Errorf("%q: the helper started without an agent", args)
		}
	}
}
