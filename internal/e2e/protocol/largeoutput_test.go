//go:build unix && !race

package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// TestRobust_LargeOutput is R56, R105 and R107: a command prints 300 MB. Memory
// stays bounded, the model sees head and tail, the rest is in a sidecar that read
// pages through without a question, and that is gone when the session is closed. In the short
// form it is a quarter of that.
func TestRobust_LargeOutput(t *testing.T) {
	t.Parallel()
	size := testreq.Rounds(75_000_000, 300_000_000)
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
	if err != nil || info.Size() != int64(size) || info.Mode().Perm() != 0o600 {
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
