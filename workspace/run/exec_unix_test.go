//go:build linux || darwin

package run_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/worktest"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

func TestExec(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, func(o *workspace.Options) {
		o.Commands.Environ = append(o.Commands.Environ, "KEPT=no", "GOFLAGS=-mod=mod", "MY_API_KEY=sk-1234")
		o.Commands.SetEnv = []string{"ADDED=too"}
	})
	worktest.Put(t, g.In("sub/file"), "x")
	sh := func(script string, args ...string) []string {
		return append([]string{"sh", "-c", script, "sh"}, args...)
	}
	tests := []struct {
		name      string
		program   tools.Program
		out, errs string
		exit      tools.Exit
	}{
		{"arguments as they are", tools.Program{Args: sh(`printf '<%s>' "$@"`, "$(id)", "a b", "")}, "<$(id)><a b><>", "", tools.Exit{}},
		{"input", tools.Program{Args: []string{"cat"}, Stdin: []byte("text\n")}, "text\n", "", tools.Exit{}},
		{"no input", tools.Program{Args: []string{"cat"}}, "", "", tools.Exit{}},
		{"errors apart", tools.Program{Args: sh("echo a; echo b >&2; exit 3")}, "a\n", "b\n", tools.Exit{Code: 3}},
		{"directory", tools.Program{Args: []string{"/bin/pwd"}, Dir: g.In("sub")}, g.In("sub") + "\n", "", tools.Exit{}},
		{
			"environment",
			tools.Program{Args: sh(`echo "$KEPT:$GOFLAGS:$MY_API_KEY:$ADDED:$OWN:$PWD"`), Env: []string{"OWN=1"}},
			":-mod=mod::too:1:" + g.Cwd + "\n", "",
			tools.Exit{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs lockedBuffer
			tt.program.Stderr = &errs
			exit, err := g.Start(t).Processes().Exec(t.Context(), tt.program, &out)
			if err != nil {
				t.Fatal(err)
			}
			worktest.Same(t, "exit", exit, tt.exit)
			worktest.Same(t, "output", out.String(), tt.out)
			worktest.Same(t, "errors", errs.String(), tt.errs)
		})
	}
}

func TestExec_Refuses(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, func(o *workspace.Options) {
		o.Commands.Environ = append([]string{"PATH=" + filepath.Join(o.Directories.Cwd, "bin") + ":bin:" + os.Getenv("PATH")}, "HOME="+o.Directories.Home)
	})
	worktest.Put(t, g.In("bin/planted"), "#!/bin/sh\necho planted\n")
	if err := os.Chmod(g.In("bin/planted"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		program tools.Program
		kind    tools.ErrorKind
		names   string
	}{
		{"not found", tools.Program{Args: []string{"no-such-formatter"}}, tools.Unavailable, `"no-such-formatter"`},
		{"planted in the workspace", tools.Program{Args: []string{"planted"}}, tools.Unavailable, `"planted"`},
		{"planted, by its path", tools.Program{Args: []string{g.In("bin/planted")}}, tools.Unavailable, "planted"},
		{"relative", tools.Program{Args: []string{"bin/planted"}}, tools.Unavailable, "planted"},
		{"outside", tools.Program{Args: []string{"true"}, Dir: g.Outside}, tools.Denied, "outside"},
		{"nothing", tools.Program{}, tools.BadInput, "no program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := g.Start(t).Processes().Exec(t.Context(), tt.program, io.Discard)
			worktest.ToolError(t, err, tt.kind)
			if err != nil && tt.kind != tools.Denied && !strings.Contains(err.Error(), tt.names) {
				t.Errorf("error %q does not say %q", err, tt.names)
			}
		})
	}
	if path, ok := g.Runner().LookPath("planted"); ok {
		t.Errorf("LookPath found %s", path)
	}
	if _, ok := g.Runner().LookPath("true"); !ok {
		t.Error("LookPath did not find true")
	}
	t.Run("cannot be confined", func(t *testing.T) {
		g := worktest.New(t, func(o *workspace.Options) {
			o.Commands.Sandbox.Level = sandbox.Bubblewrap
		})
		_, err := g.Start(t).Processes().Exec(t.Context(), tools.Program{Args: []string{"true"}}, io.Discard)
		worktest.ToolError(t, err, tools.Unavailable)
		_, err = g.Runner().StartProgram(t.Context(), tools.Program{Args: []string{"true"}}, run.Grant{}, nil)
		worktest.ToolError(t, err, tools.Unavailable)
	})
}

func TestExec_EndsWithItsCall(t *testing.T) {
	t.Parallel()
	g := worktest.New(t)
	out := lockedBuffer{seen: make(chan struct{})}
	c := g.Call("call_1", "format_file", nil)
	returned := make(chan error, 1)
	go func() {
		_, err := c.Processes().Exec(t.Context(), tools.Program{Args: []string{"sh", "-c", "echo started; sleep 100"}}, &out)
		returned <- err
	}()
	<-out.seen
	c.Finish()
	worktest.ToolError(t, <-returned, tools.Aborted)
	if err := g.Runner().WaitForAbandoned(t.Context()); err != nil {
		t.Error(err)
	}
}

// A program takes a slot of the session's commands, a server does not (X5).
func TestExec_AtMost(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, func(o *workspace.Options) { o.Commands.AtOnce = 1 })
	server, err := g.Runner().StartProgram(t.Context(), tools.Program{Args: []string{"cat"}}, run.Grant{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	out := lockedBuffer{seen: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		_, _ = g.Call("call_1", "x", nil).Processes().Exec(ctx, tools.Program{Args: []string{"sh", "-c", "echo started; sleep 100"}}, &out)
	}()
	<-out.seen
	waiting, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, err = g.Call("call_2", "x", nil).Processes().Exec(waiting, tools.Program{Args: []string{"true"}}, io.Discard)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	cancel()
	<-returned
}

func TestStartProgram(t *testing.T) {
	t.Parallel()
	g := worktest.New(t)
	errs := lockedBuffer{seen: make(chan struct{})}
	p, err := g.Runner().StartProgram(t.Context(), tools.Program{Args: []string{"sh", "-c", "echo ready >&2; cat; exit 4"}}, run.Grant{}, &errs)
	if err != nil {
		t.Fatal(err)
	}
	<-errs.seen
	if _, err := io.WriteString(p, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p).ReadString('\n'); line != "hello\n" {
		t.Errorf("answer %q, %v", line, err)
	}
	if err := p.CloseInput(); err != nil {
		t.Error(err)
	}
	exit, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	worktest.Same(t, "exit", exit, tools.Exit{Code: 4})
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// A server that does not listen ends with the session, its tree too.
func TestStartProgram_EndsWithItsSession(t *testing.T) {
	t.Parallel()
	g := worktest.New(t)
	p, err := g.Runner().StartProgram(t.Context(), tools.Program{Args: []string{"sh", "-c", "trap '' TERM; while :; do sleep 1; done"}}, run.Grant{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Close(50 * time.Millisecond)
	if _, err := p.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("read: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	late, err := g.Runner().StartProgram(t.Context(), tools.Program{Args: []string{"sleep", "100"}}, run.Grant{}, nil)
	if err != nil {
		return // the session's directory is closed already
	}
	if _, err := late.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	late.Close()
}
