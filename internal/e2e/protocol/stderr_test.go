//go:build unix

package protocol

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/testfile"
)

// unread returns the writing end of a pipe that is full and that nothing is read from
// before read is called.
func unread(t *testing.T) (w *os.File, read func() string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if err := w.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	filled, err := w.Write(make([]byte, 8<<20))
	if !os.IsTimeout(err) {
		t.Fatalf("the pipe took %d bytes: %v", filled, err)
	}
	w.Fd() // makes it block, as the pipes of editors do
	return w, func() string {
		w.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			t.Error(err)
		}
		return string(text[min(filled, len(text)):])
	}
}

// gone returns the writing end of a pipe whose reader is gone.
func gone(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

// chatty has the agent log all it can.
var chatty = []string{"ACP_AGENT_LOG=debug"}

// provoke has the agent log something at level debug.
func provoke(agent *acptest.Agent) {
	for range 100 {
		agent.Write(`{"jsonrpc":"2.0","id":77,"result":{}}`)
	}
}

// TestRobust_Stderr is R145: the agent works and is cancelled, and ends in time and well,
// whatever becomes of its stderr; the log's file has what was logged. A command that it
// starts dies of SIGPIPE as it would in a terminal.
func TestRobust_Stderr(t *testing.T) {
	const model = `{"call": [{"name": "bash", "args": {"cmd": "{ yes; echo status $? >&2; } | head -n 1"}}]}
{"say": "Here."}
{"wait": "for ever"}
`
	for _, tc := range []struct {
		name   string
		stderr func(*testing.T) *os.File
	}{
		{"never read", func(t *testing.T) *os.File { w, _ := unread(t); return w }},
		{"reader gone", gone},
	} {
		for _, end := range []string{"input", "signal"} {
			t.Run(tc.name+", ended by "+end, func(t *testing.T) {
				t.Parallel()
				agent := acptest.Start(t, acptest.Options{
					Model: model, Env: chatty, Stderr: tc.stderr(t), Permission: acptest.Answer("allow_once"), Killed: end == "signal",
				})
				agent.Initialize("")
				session := agent.NewSession(t.TempDir())
				provoke(agent)
				turn := session.Prompt("run")
				ran := agent.Expect("the command's end", acptest.Update("tool_call_update", "status", "completed"))
				turn.Ends("end_turn")
				if text, _ := ran.Get("params.update.rawOutput.data.output").(string); !strings.Contains(text, "status 141") {
					t.Errorf("the command said %q, want the status of SIGPIPE", text)
				}
				turn = session.Prompt("wait")
				session.Cancel()
				turn.Ends("cancelled")
				if end == "signal" {
					if err := agent.Signal(syscall.SIGTERM); err != nil {
						t.Fatal(err)
					}
					if err := agent.Exit(acptest.Slack(2 * time.Second)); err != nil {
						t.Errorf("the agent did not exit well: %v", err)
					}
				}
				agent.Close()
				log, err := os.ReadFile(filepath.Join(agent.Home, ".local", "state", "acp-agent", "acp-agent.log"))
				if err != nil || !strings.Contains(string(log), "level=DEBUG") {
					t.Errorf("the log's file: %q, %v", log, err)
				}
			})
		}
	}
}

// TestRobust_LogFileHangs has the log's file be a pipe that is not read, as a file on a
// server that does not answer would be: stderr has the log, and the exit waits for no disk.
func TestRobust_LogFileHangs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	fifo := filepath.Join(home, "log")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	agent := acptest.Start(t, acptest.Options{
		Home: home, Model: agenttest.Hello, Env: append([]string{testfile.Config(t, `{"log": {"file": %q}}`, fifo)}, chatty...),
	})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	provoke(agent)
	session.Prompt("hello").Ends("end_turn")
	agent.Close()
	if !strings.Contains(agent.Stderr(), "level=DEBUG") {
		t.Errorf("stderr: %q", agent.Stderr())
	}
}

// TestRobust_CrashUnread has the runtime print its trace, as in a crash, to a stderr that
// is not read: the process dies all the same. One that is read has the trace.
func TestRobust_CrashUnread(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		read bool
	}{{"never read", false}, {"read", true}} {
		t.Run(tc.name, func(t *testing.T) {
			w, read := unread(t)
			if tc.read {
				w, read = drained(t)
			}
			agent := acptest.Start(t, acptest.Options{Model: agenttest.Hello, Killed: true, Stderr: w})
			agent.Initialize("")
			if err := agent.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
			if err := agent.Exit(acptest.Slack(2 * time.Second)); err == nil || !strings.Contains(err.Error(), "exit status 2") {
				t.Errorf("the agent ended with %v, want the exit status of a crash", err)
			}
			if text := read(); tc.read && strings.Count(text, "SIGQUIT: quit") != 1 {
				t.Errorf("stderr has not the trace, once: %.2000q", text)
			}
		})
	}
}

// drained returns the writing end of a pipe that is read all the time, and read, which
// returns what was.
func drained(t *testing.T) (w *os.File, read func() string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string, 1)
	go func() {
		got, _ := io.ReadAll(r)
		r.Close()
		text <- string(got)
	}()
	return w, func() string {
		w.Close()
		return <-text
	}
}
