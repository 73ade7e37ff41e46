package permissions

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/audit"
	"acp-agent/internal/testkit/acptest"
)

// TestAudit_Killed is R129: what may change something is in the record before it
// does, so that it is there when the agent is killed in the middle.
func TestAudit_Killed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is for a POSIX shell")
	}
	data := filepath.Join(t.TempDir(), "data")
	agent := acptest.Start(t, acptest.Options{
		Permission: acptest.Answer("allow_once"), Killed: true, Env: []string{"XDG_DATA_HOME=" + data},
		Model: `{"call": [{"name": "bash", "args": {"cmd": "echo begun; exec sleep 60"}}]}`,
	})
	agent.Initialize(`{"_meta":{"terminal_output":true}}`)
	session := agent.NewSession(t.TempDir())
	session.Prompt("work")
	agent.Expect("the command's output", acptest.Update("tool_call_update", "_meta.terminal_output.data", "begun"))
	if err := agent.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	agent.Close()

	dir := filepath.Join(data, "acp-agent", "audit")
	ids, err := audit.Sessions(dir)
	if err != nil || len(ids) != 1 {
		t.Fatalf("sessions %v, %v", ids, err)
	}
	report, err := audit.Verify(dir, ids[0])
	if err != nil || report.Problem != "" || report.Records != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	err = audit.Read(dir, ids[0], func(r audit.Record, line []byte) error {
		if r.Event != audit.Begin || r.Tool != "bash" || r.Verdict != "allow" || r.By != "person: allow_once" || !strings.Contains(string(r.Args), "sleep 60") {
			t.Errorf("the record is %s", line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
