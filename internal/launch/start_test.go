//go:build linux || darwin

package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStart_OutputAndStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, out string
		status          Status
	}{
		{"success", "echo hi", "hi\n", Status{}},
		{"exit code", "exit 3", "", Status{ExitCode: 3}},
		{"not found", "exec /no/such/program 2>/dev/null", "", Status{ExitCode: 127}},
		{"signal", "kill -TERM $$; sleep 5", "", Status{ExitCode: 143, Signal: "SIGTERM"}},
		{"order of both streams", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", "1\n2\n3\n4\n", Status{}},
		{"leading dash", "-x 2>/dev/null; echo after", "after\n", Status{}},
		{"empty stdin", "cat; echo end", "end\n", Status{}},
		{"no terminal", "(: </dev/tty) 2>/dev/null || echo none", "none\n", Status{}},
		{"broken pipe ends a writer", "yes | head -n 1", "y\n", Status{}},
		{"newlines and quotes", "printf '%s' \"a\nb'c\"", "a\nb'c", Status{}},
		{"not utf-8", "printf '%s' '\xff\xfe'", "\xff\xfe", Status{}},
		{"background job", "sleep 300 & echo hi", "hi\n", Status{}},
		{"large output", "head -c 300000 /dev/zero | tr '\\0' x", strings.Repeat("x", 300000), Status{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := newOutput()
			got, err := wait(t, start(t, spec(t, tt.text), out))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.status, got); d != "" {
				t.Errorf("status (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.out, out.String()); d != "" {
				t.Errorf("output (-want +got):\n%s", d)
			}
		})
	}
}

func TestStart_PlainSh(t *testing.T) {
	t.Parallel()
	s := spec(t, "-x 2>/dev/null; echo sh")
	s.Shell = Shell{Path: "/bin/sh", Args: []string{"-c", "--"}}
	out := newOutput()
	if _, err := wait(t, start(t, s, out)); err != nil || out.String() != "sh\n" {
		t.Errorf("got %q, %v; want \"sh\\n\"", out, err)
	}
}

func TestStart_EnvironmentIsExact(t *testing.T) {
	t.Setenv("LAUNCH_TEST_LEAK", "secret")
	s := spec(t, "/usr/bin/env | sort")
	s.Env = []string{"PATH=/usr/bin:/bin", "ODD=\xff", "PWD=/elsewhere"}
	out := newOutput()
	if _, err := wait(t, start(t, s, out)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		switch name, _, _ := strings.Cut(line, "="); name {
		case "_", "SHLVL": // the shell's own
		case cookieName:
			got = append(got, name)
		default:
			got = append(got, line)
		}
	}
	want := []string{cookieName, "ODD=\xff", "PATH=/usr/bin:/bin", "PWD=" + s.Dir}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("environment (-want +got):\n%s", d)
	}
}

func TestStart_Errors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		change     func(*Spec)
	}{
		{"empty", "empty command", func(s *Spec) { s.Text = "" }},
		{"nul", "NUL byte", func(s *Spec) { s.Text = "a\x00b" }},
		{"relative shell", "not an absolute path", func(s *Spec) { s.Shell.Path = "bash" }},
		{"relative directory", "not an absolute path", func(s *Spec) { s.Dir = "." }},
		{"bad environment", "not NAME=value", func(s *Spec) { s.Env = []string{"NOVALUE"} }},
		{"missing shell", "no such file", func(s *Spec) { s.Shell.Path = "/no/such/shell" }},
		{"missing directory", "no such file", func(s *Spec) { s.Dir = "/no/such/dir" }},
		{"directory is a file", "not a directory", func(s *Spec) {
			s.Dir = filepath.Join(s.Dir, "f")
			_ = os.WriteFile(s.Dir, nil, 0o600)
		}},
		{"text too long", "argument list too long", func(s *Spec) { s.Text = ": " + strings.Repeat("x", 4<<20) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := spec(t, "true")
			tt.change(&s)
			p, err := launcher(t).StartStreams(t.Context(), s, Streams{Output: newOutput()})
			if p != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v; want an error with %q", p, err, tt.want)
			}
		})
	}
}

func TestStart_NoHelper(t *testing.T) {
	t.Parallel()
	l := &Launcher{Self: "/no/such/agent"}
	_, err := l.StartStreams(t.Context(), spec(t, "true"), Streams{Output: newOutput()})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v; want %v", err, os.ErrNotExist)
	}
}

func TestStart_HelperOfAnotherKind(t *testing.T) {
	t.Parallel()
	l := &Launcher{Self: "/bin/false"}
	if _, err := l.StartStreams(t.Context(), spec(t, "true"), Streams{Output: newOutput()}); !errors.Is(err, ErrLost) {
		t.Errorf("got %v; want %v", err, ErrLost)
	}
}

func TestStart_Cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("cancelled by user")
	cancel(why)
	if _, err := launcher(t).StartStreams(ctx, spec(t, "sleep 300"), Streams{Output: newOutput()}); !errors.Is(err, why) {
		t.Errorf("got %v; want %v", err, why)
	}
}

// A helper that was killed before it attached has started nothing. To look for what it may
// have left takes 20 ms, which an agent that ends during the trial of its sandbox waits for.
func TestProcess_MayHaveLeft(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		helper int
		last   record
		want   bool
	}{
		{"killed before it attached", 0, record{}, false},
		{"killed afterwards", 7, record{Shell: 8}, true},
		{"said how its command ended", 7, record{Status: &Status{}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProcess("cookie", nil, nil)
			p.helper = tt.helper
			if got := p.mayHaveLeft(tt.last); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestWait_ContextLeavesCommandRunning(t *testing.T) {
	t.Parallel()
	p := start(t, spec(t, "sleep 300"), newOutput())
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("turn over")
	cancel(why)
	if _, err := p.Wait(ctx); !errors.Is(err, why) {
		t.Errorf("Wait: got %v; want %v", err, why)
	}
	select {
	case <-p.Done():
		t.Error("the command ended with the context")
	default:
	}
}

func TestWait_WriterError(t *testing.T) {
	t.Parallel()
	s := spec(t, "head -c 300000 /dev/zero; exit 4")
	p, err := launcher(t).StartStreams(t.Context(), s, Streams{Output: brokenWriter{}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := wait(t, p); err != nil || got.ExitCode != 4 {
		t.Errorf("got %+v, %v; want exit code 4", got, err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }
