package builtin

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// fakeModes is a session in plan mode, or not.
type fakeModes struct {
	in   bool
	left int
}

func (m *fakeModes) AfterPlan() (string, error) {
	if !m.in {
		return "", tools.Errorf(tools.Unavailable, "the session is not in plan mode")
	}
	return "Code (edits)", nil
}

func (m *fakeModes) LeavePlan() (mode, notice string, err error) {
	if _, err := m.AfterPlan(); err != nil {
		return "", "", err
	}
	m.in, m.left = false, m.left+1
	return "code", "Mode code it is.", nil
}

func TestPlanExit(t *testing.T) {
	t.Parallel()
	modes := &fakeModes{in: true}
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Modes = modes
	result, err := rt.Run(t.Context(), newPlanExit(), "plan_exit", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(planExitData{"code"}, result.Data); diff != "" || !strings.Contains(result.ModelText(), "Mode code it is.") {
		t.Errorf("text %q, data (-want +got):\n%s", result.ModelText(), diff)
	}
	if diff := cmp.Diff([]kinds.Content{kinds.Text{Text: "Plan mode has ended; the session is in mode code."}}, result.Content); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	if modes.left != 1 {
		t.Errorf("plan mode was left %d times", modes.left)
	}
	wantFailure(t, rt, newPlanExit(), `{}`, tools.Unavailable, "not in plan mode")
	rt.Serve.Modes = nil
	wantFailure(t, rt, newPlanExit(), `{}`, tools.Unavailable, "no plan mode")
	if kind := Kind("plan_exit"); kind != kinds.SwitchMode {
		t.Errorf("kind %s, want %s (R157)", kind, kinds.SwitchMode)
	}
}

// What the user sees names the mode that follows before the model's own text, in which
// nothing is hidden.
func TestPlanExit_Preview(t *testing.T) {
	t.Parallel()
	const path = tooltest.Scratch + "/plan.md"
	head := kinds.Text{Text: "If you allow this, plan mode ends and the session is in mode Code (edits). The plan:"}
	tests := []struct {
		name, written, args, want string
		failure                   string
	}{
		{"written", "# Plan\n1. read\n", `{}`, "# Plan\n1. read", ""},
		{"given", "# Old\n", `{"plan":"# New"}`, "# New", ""},
		{"hidden text", "", `{"plan":"a\u202eb"}`, kinds.Visible("a\u202eb"), ""},
		{"none", "", `{}`, "", "no plan to approve"},
	}
	for _, tt := range tests {
		rt := tooltest.New(tooltest.Options{})
		rt.Serve.Modes = &fakeModes{in: true}
		if tt.written != "" {
			rt.Mem.Put(path, tt.written)
		}
		got, err := newPlanExit().Preview(t.Context(), rt, tools.NewArgs(tt.args))
		if tt.failure != "" {
			if err == nil || !strings.Contains(err.Error(), tt.failure) {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.failure)
			}
			continue
		}
		if diff := cmp.Diff([]kinds.Content{head, kinds.Text{Text: tt.want}}, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, card (-want +got):\n%s", tt.name, err, diff)
		}
	}
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Modes = &fakeModes{}
	if _, err := newPlanExit().Preview(context.Background(), rt, tools.NewArgs(`{}`)); err == nil {
		t.Error("it is asked outside plan mode")
	}
}
