//go:build linux || darwin

package run_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/testkit/worktest"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// fakeTerminals runs what it is given, as a client does.
type fakeTerminals struct {
	createErr error
	// instead, when set, is what is run in place of our binary.
	instead []string

	mu      sync.Mutex
	created []*fakeTerminal
	argv    [][]string
}

type fakeTerminal struct {
	cmd  *exec.Cmd
	out  lockedBuffer
	done chan struct{}
	code int

	mu    sync.Mutex
	calls []string
}

func (f *fakeTerminals) Create(_ context.Context, cmd string, args []string, _ map[string]string, cwd string, limit int) (run.Terminal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.createErr != nil {
		return nil, f.createErr
	}
	argv := append([]string{cmd}, args...)
	f.argv = append(f.argv, argv)
	if f.instead != nil {
		argv = f.instead
	}
	if limit <= 0 {
		return nil, errors.New("no limit")
	}
	term := &fakeTerminal{cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	term.cmd.Dir, term.cmd.Stdout, term.cmd.Stderr = cwd, &term.out, &term.out
	if err := term.cmd.Start(); err != nil {
		return nil, err
	}
	f.created = append(f.created, term)
	go func() {
		defer close(term.done)
		_ = term.cmd.Wait()
		term.code = term.cmd.ProcessState.ExitCode()
	}()
	return term, nil
}

func (t *fakeTerminal) note(call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, call)
}

func (t *fakeTerminal) list() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.calls, " ")
}

func (t *fakeTerminal) ID() string { return "term_1" }

func (t *fakeTerminal) Wait(ctx context.Context) (tools.Exit, error) {
	select {
	case <-t.done:
		return tools.Exit{Code: t.code}, nil
	case <-ctx.Done():
		return tools.Exit{}, ctx.Err()
	}
}

func (t *fakeTerminal) Kill(context.Context) error {
	t.note("kill")
	_ = t.cmd.Process.Kill()
	return nil
}

func (t *fakeTerminal) Output(context.Context) (string, bool, error) {
	t.note("output")
	return t.out.String(), false, nil
}

func (t *fakeTerminal) Release(context.Context) error {
	t.note("release")
	return nil
}

func withTerminals(f *fakeTerminals) func(*workspace.Options) {
	return func(o *workspace.Options) { o.Commands.Terminals = f }
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	f := &fakeTerminals{}
	g := worktest.New(t, withTerminals(f))
	var sink recorder
	c := g.Call("call_1", "bash", &sink)
	var out lockedBuffer
	exit, err := c.Processes().Run(t.Context(), tools.ShellCommand{Text: `echo secret-text; seq 1 20000; exit 4`}, &out)
	c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	worktest.Same(t, "exit", exit, tools.Exit{Code: 4})
	if n := strings.Count(out.String(), "\n"); n != 20001 {
		t.Errorf("%d lines reached the model", n)
	}
	term := f.first()
	worktest.Same(t, "calls", term.list(), "output release")
	if !strings.Contains(term.out.String(), "secret-text") {
		t.Errorf("the terminal shows %q", term.out.String())
	}
	if strings.Contains(strings.Join(f.argv[0], " "), "secret-text") {
		t.Errorf("the client was given the command itself: %q", f.argv[0])
	}
	worktest.Same(t, "events", sink.events, []transcript.Event{transcript.ToolTerminal{CallID: "call_1", TerminalID: "term_1"}})
	worktest.Same(t, "failed", g.Runner().TrialFailed(), false)
}

func TestTerminal_Cancel(t *testing.T) {
	t.Parallel()
	f := &fakeTerminals{}
	g := worktest.New(t, withTerminals(f))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("turn cancelled")
	out := lockedBuffer{seen: make(chan struct{})}
	returned := make(chan error, 1)
	c := g.Start(t)
	go func() {
		_, err := c.Processes().Run(ctx, tools.ShellCommand{Text: "echo started; sleep 100"}, &out)
		returned <- err
	}()
	<-out.seen
	cancel(cause)
	if err := <-returned; !errors.Is(err, cause) {
		t.Errorf("err = %v", err)
	}
	if err := g.Runner().WaitForAbandoned(t.Context()); err != nil {
		t.Fatal(err)
	}
	worktest.Same(t, "calls", f.first().list(), "kill output release")
	<-f.first().done
}

func TestTerminal_FallsBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		f       *fakeTerminals
		release bool
	}{
		{"the client refuses", &fakeTerminals{createErr: errors.New("not allowed")}, false},
		{"the binary is not there", &fakeTerminals{instead: []string{"sh", "-c", "exit 127"}}, true},
		{"the binary cannot be run", &fakeTerminals{instead: []string{"sh", "-c", "exit 126"}}, true},
		{"something else ran", &fakeTerminals{instead: []string{"true"}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := tt.f
			g := worktest.New(t, withTerminals(f))
			for range 2 { // it is tried once for a connection
				var out lockedBuffer
				exit, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "echo ran >> file; echo ran; exit 2"}, &out)
				if err != nil {
					t.Fatal(err)
				}
				worktest.Same(t, "exit", exit, tools.Exit{Code: 2})
				worktest.Same(t, "output", out.String(), "ran\n")
			}
			worktest.Same(t, "runs", worktest.Get(t, g.In("file")), "ran\nran\n")
			worktest.Same(t, "failed", g.Runner().TrialFailed(), true)
			if len(f.created) > 1 {
				t.Errorf("%d terminals were created", len(f.created))
			}
			if tt.release {
				worktest.Same(t, "calls", f.first().list(), "output release")
			}
		})
	}
}

func TestTerminal_HelperLost(t *testing.T) {
	t.Parallel()
	f := &fakeTerminals{}
	g := worktest.New(t, withTerminals(f))
	out := lockedBuffer{seen: make(chan struct{})}
	returned := make(chan error, 1)
	c := g.Start(t)
	go func() {
		_, err := c.Processes().Run(t.Context(), tools.ShellCommand{Text: "echo started; sleep 100"}, &out)
		returned <- err
	}()
	<-out.seen
	term := f.first()
	_ = term.cmd.Process.Kill()
	worktest.ToolError(t, <-returned, tools.Backend)
	worktest.Same(t, "calls", term.list(), "output release")
	if !bytes.Contains([]byte(out.String()), []byte("started")) {
		t.Errorf("output %q", out.String())
	}
}

// first returns the first terminal. Its output may be seen before Create has
// returned, which holds the lock until the terminal is recorded.
func (f *fakeTerminals) first() *fakeTerminal {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.created[0]
}
