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

// TestRobust_SidecarSweptAfterCrash is R107: what a killed agent left is removed
// by the next one.
func TestRobust_SidecarSweptAfterCrash(t *testing.T) {
	t.Parallel()
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
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // the sweep runs in the background
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
