//go:build unix

package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
)

// flooding is a model that has a command print lines of 100 bytes, and reads
// what it is told to.
func flooding(bytes int) string {
	return fmt.Sprintf(`{"when": "^flood$", "call": [{"name": "bash", "args": {"cmd": "yes %s | head -c %d"}}]}
{"say": "flooded"}
{"when": "^read (.+)$", "call": [{"name": "read", "args": {"path": "${match.1}", "byte_range": [%d, %d]}}]}
{"say": "read"}
`, strings.Repeat("0123456789", 10)[:99], bytes, bytes-100, bytes)
}

// TestRobust_LargeOutput is R56, R105 and R107: a command prints 300 MB. Memory
// stays bounded, the model sees head and tail, the rest is in a sidecar that read
// pages through without a question, and that is gone when the session is closed.
func TestRobust_LargeOutput(t *testing.T) {
	const size = 300_000_000
	agent := acptest.Start(t, acptest.Options{Model: flooding(size), Permission: onlyCommands(t)})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	session.Prompt("/status").Ends("end_turn")
	idle := agent.Peak()
	turn := session.Prompt("flood")
	end := agent.Expect("the end of the command", acptest.Update("tool_call_update", "status", "completed"))
	turn.Ends("end_turn")
	if grown := agent.Peak() - idle; grown > int64(acptest.Slack(64<<20)) {
		t.Errorf("the agent grew by %d MiB", grown>>20)
	}
	t.Logf("idle %d MiB, at its peak %d MiB", idle>>20, agent.Peak()>>20)
	path, _ := end.Get("params.update.rawOutput.metadata.output_path").(string)
	info, err := os.Stat(path)
	if err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
		t.Fatalf("sidecar %q: %v, %v", path, info, err)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("the sidecar's directory: %v, %v", dir, err)
	}
	if truncated, _ := end.Get("params.update.rawOutput.metadata.truncated").(bool); !truncated {
		t.Error("the envelope does not say that the output was cut")
	}
	turn = session.Prompt("read " + path)
	read := agent.Expect("the end of read", acptest.Update("tool_call_update", "status", "completed"))
	turn.Ends("end_turn")
	if text := fmt.Sprint(read.Get("params.update.rawOutput.data")); !strings.HasPrefix(text, "0123456789") {
		t.Errorf("read of the sidecar's end gave %.60q", text)
	}
	session.CloseSession()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the sidecar is there after session/close: %v", err)
	}
}

// TestRobust_SidecarSweptAfterCrash is R107: what a killed agent left is removed
// by the next one.
func TestRobust_SidecarSweptAfterCrash(t *testing.T) {
	home := t.TempDir()
	agent := acptest.Start(t, acptest.Options{Home: home, Model: flooding(1_000_000), Permission: onlyCommands(t), Killed: true})
	agent.Initialize("")
	turn := agent.NewSession(t.TempDir()).Prompt("flood")
	end := agent.Expect("the end of the command", acptest.Update("tool_call_update", "status", "completed"))
	turn.Ends("end_turn")
	path, _ := end.Get("params.update.rawOutput.metadata.output_path").(string)
	if err := agent.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = agent.Exit(10 * time.Second)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the sidecar of the killed agent: %v", err)
	}
	next := acptest.Start(t, acptest.Options{Home: home, Model: flooding(1_000_000)})
	next.Initialize("")
	next.NewSession(t.TempDir())
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) { // the sweep runs in the background
		if _, err := os.Stat(filepath.Dir(path)); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is there after the next start", filepath.Dir(path))
		}
	}
}

// onlyCommands allows commands; being asked about anything else is a failure.
func onlyCommands(t *testing.T) func(*acptest.Permission) {
	allow := acptest.Answer("allow_once")
	return func(p *acptest.Permission) {
		if kind := p.Get("params.toolCall.kind"); kind != "execute" {
			t.Errorf("asked about a call of kind %v", kind)
		}
		allow(p)
	}
}
