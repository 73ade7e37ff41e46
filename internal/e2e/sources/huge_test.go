package sources

import (
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
)

// A tool returns 100 MB at once (R106): the agent takes little more than
// that, and neither the model nor the editor is sent it.
func TestTool_HugeResult(t *testing.T) {
	t.Parallel()
	const size = 100 << 20
	agent := acptest.Start(t, acptest.Options{
		Env: []string{agenttest.EnvTools + "=1"},
		Model: `{"call": [{"name": "tool_search", "args": {"query": "huge"}}]}
{"call": [{"name": "huge"}]}
{"expect": {"last_result": "[Tool result truncated: 102400KB exceeds limit."}, "say": "Cut."}
`,
		Permission: func(p *acptest.Permission) { p.Choose("allow_once") },
	})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	session.Prompt("/status").Ends("end_turn")
	idle := agent.Peak()
	session.Prompt("all of it").Ends("end_turn")
	if grown := agent.Peak() - idle; grown > int64(acptest.Slack(2*size)) {
		t.Errorf("the agent grew by %d MiB", grown>>20)
	}
	t.Logf("idle %d MiB, at its peak %d MiB", idle>>20, agent.Peak()>>20)
	for _, line := range agent.Lines() {
		if len(line.Raw) > 256<<10 {
			t.Errorf("a line of %d bytes went over the wire", len(line.Raw))
		}
	}
}
