package run_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/worktest"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// lockedBuffer collects a command's output.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen chan struct{} // closed at the first output, when set
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen != nil && b.text.Len() == 0 {
		close(b.seen)
	}
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestRun(t *testing.T) {
	t.Parallel()
	more := t.TempDir()
	g := worktest.New(t, func(o *workspace.Options) {
		o.Directories.Additional = []string{more}
		o.Commands.Environ = append(o.Commands.Environ, "MY_API_KEY=sk-1234", "KEPT=yes")
		o.Commands.SetEnv = []string{"ADDED=too"}
	})
	worktest.Put(t, g.In("sub/file"), "x")
	tests := []struct {
		name, text, dir, want string
		exit                  tools.Exit
	}{
		{"output of both streams, in order", "echo a; echo b >&2; echo c", "", "a\nb\nc\n", tools.Exit{}},
		{"exit code", "exit 3", "", "", tools.Exit{Code: 3}},
		{"signal", "kill -TERM $$", "", "", tools.Exit{Code: 143, Signal: "SIGTERM"}},
		{"directory", "pwd", g.In("sub"), g.In("sub") + "\n", tools.Exit{}},
		{"additional directory", "pwd", more, more + "\n", tools.Exit{}},
		{"environment", `echo "$MY_API_KEY:$KEPT:$ADDED"`, "", ":yes:too\n", tools.Exit{}},
		{"empty input", "cat", "", "", tools.Exit{}},
		{"starts with a dash", "-x; echo end", "", "", tools.Exit{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out lockedBuffer
			exit, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: tt.text, Dir: tt.dir}, &out)
			if err != nil {
				t.Fatal(err)
			}
			if tt.name == "starts with a dash" {
				if !strings.HasSuffix(out.String(), "end\n") {
					t.Errorf("output %q", out.String())
				}
				return
			}
			worktest.Same(t, "exit", exit, tt.exit)
			worktest.Same(t, "output", out.String(), tt.want)
		})
	}
}

func TestRun_Refuses(t *testing.T) {
	t.Parallel()
	g := worktest.New(t)
	worktest.Put(t, g.In("file"), "x")
	worktest.Link(t, g.Outside, g.In("out"))
	tests := []struct {
		name, dir string
		kind      tools.ErrorKind
	}{
		{"outside", g.Outside, tools.Denied},
		{"link out", g.In("out"), tools.Denied},
		{"missing", g.In("gone"), tools.BadInput},
		{"file", g.In("file"), tools.BadInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "true", Dir: tt.dir}, io.Discard)
			worktest.ToolError(t, err, tt.kind)
		})
	}
	t.Run("granted for reading alone", func(t *testing.T) {
		access, err := g.Check(g.Outside, false)
		if err != nil {
			t.Fatal(err)
		}
		g.Grant("call_1", access, false)
		_, err = g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "true", Dir: g.Outside}, io.Discard)
		worktest.ToolError(t, err, tools.Denied)
	})
	t.Run("no launcher", func(t *testing.T) {
		g := worktest.New(t, func(o *workspace.Options) { o.Commands.Launcher = nil })
		_, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "true"}, io.Discard)
		worktest.ToolError(t, err, tools.Unavailable)
	})
	t.Run("no shell", func(t *testing.T) {
		g := worktest.New(t, func(o *workspace.Options) {
			o.Commands.Shell = launch.Shell{Path: "/no/such/shell", Args: []string{"-c"}}
		})
		_, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "true"}, io.Discard)
		worktest.ToolError(t, err, tools.Backend)
	})
	t.Run("cannot be confined", func(t *testing.T) {
		g := worktest.New(t, func(o *workspace.Options) {
			o.Commands.Sandbox.Level = sandbox.Bubblewrap
		})
		_, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "true"}, io.Discard)
		worktest.ToolError(t, err, tools.Unavailable)
	})
}

func TestRun_EndsWithItsCall(t *testing.T) {
	t.Parallel()
	g := worktest.New(t)
	out := lockedBuffer{seen: make(chan struct{})}
	c := g.Call("call_1", "bash", nil)
	returned := make(chan error, 1)
	go func() {
		_, err := c.Processes().Run(t.Context(), tools.ShellCommand{Text: "echo started; sleep 100"}, &out)
		returned <- err
	}()
	<-out.seen
	c.Finish()
	worktest.ToolError(t, <-returned, tools.Aborted)
	if err := g.Runner().WaitForAbandoned(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRun_EndsWithItsSession(t *testing.T) {
	t.Parallel()
	g := worktest.New(t)
	out := lockedBuffer{seen: make(chan struct{})}
	c := g.Start(t)
	returned := make(chan error, 1)
	go func() {
		_, err := c.Processes().Run(t.Context(), tools.ShellCommand{Text: "echo started; sleep 100"}, &out)
		returned <- err
	}()
	<-out.seen
	g.Close(0)
	if err := <-returned; err == nil {
		t.Error("the command ended by itself")
	}
}

func TestRun_AtMost(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, func(o *workspace.Options) { o.Commands.AtOnce = 1 })
	out := lockedBuffer{seen: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		_, _ = g.Call("call_1", "bash", nil).Processes().Run(ctx, tools.ShellCommand{Text: "echo started; sleep 100"}, &out)
	})
	<-out.seen
	waiting, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, err := g.Call("call_2", "bash", nil).Processes().Run(waiting, tools.ShellCommand{Text: "echo ran > ran"}, io.Discard)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	if _, err := os.Stat(filepath.Join(g.Cwd, "ran")); err == nil {
		t.Error("a second command ran concurrently with the first")
	}
	cancel()
	all.Wait()
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
