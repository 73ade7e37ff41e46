package builtin

import (
	"testing"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestPlanExit(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	for _, args := range []string{`{}`, `{"plan":"# Plan"}`} {
		wantFailure(t, rt, newPlanExit(), args, tools.Unavailable, "plan mode is not available yet")
	}
	if kind := kinds.Of("plan_exit"); kind != kinds.SwitchMode {
		t.Errorf("kind %s, want %s (R157)", kind, kinds.SwitchMode)
	}
}
