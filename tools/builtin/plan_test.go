package builtin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	const path = tooltest.Scratch + "/plan.md"
	old := "# Plan\n1. read\n"
	tests := []struct {
		name, args, want string
		diff             kinds.Diff
	}{
		{"new", `{"content":"# Plan\n1. read"}`, old, kinds.Diff{Path: path, New: old}},
		{"again", `{"content":"# Other\n"}`, "# Other\n", kinds.Diff{Path: path, Old: &old, New: "# Other\n"}},
	}
	rt := tooltest.New(tooltest.Options{})
	for _, tt := range tests {
		result, err := rt.Run(t.Context(), newPlan(), "plan", tt.args)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got, _ := rt.Mem.Get(path); got != tt.want {
			t.Errorf("%s: file %q, want %q", tt.name, got, tt.want)
		}
		if diff := cmp.Diff([]kinds.Content{tt.diff}, result.Content); diff != "" {
			t.Errorf("%s: card (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(planData{path}, result.Data); diff != "" || !strings.Contains(result.ModelText(), path) {
			t.Errorf("%s: text %q, data (-want +got):\n%s", tt.name, result.ModelText(), diff)
		}
	}
	if diff := cmp.Diff([]string{path, path}, rt.Mem.Writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestPlan_Refuses(t *testing.T) {
	t.Parallel()
	limits := tools.CanonicalLimits()
	limits.FileBytes = 10
	rt := tooltest.New(tooltest.Options{Limits: &limits})
	wantFailure(t, rt, newPlan(), `{"content":" \n"}`, tools.BadInput, "content")
	wantFailure(t, rt, newPlan(), `{"content":"ten bytes and more"}`, tools.BadInput, "size limit")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rt.Run(ctx, newPlan(), "plan", `{"content":"x"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want %v", err, context.Canceled)
	}
	if writes := rt.Mem.Writes(); len(writes) > 0 {
		t.Errorf("writes %v", writes)
	}
}
