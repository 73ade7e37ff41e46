package builtin

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

// spawned is a tools.Spawner that keeps what it is given and answers the same each time.
type spawned struct {
	got   []tools.Delegation
	out   *tools.Delegated
	err   error
	tasks []transcript.ChildRecord
}

func (s *spawned) Spawn(_ context.Context, d tools.Delegation) (*tools.Delegated, error) {
	s.got = append(s.got, d)
	return s.out, s.err
}

func (s *spawned) Tasks() []transcript.ChildRecord { return s.tasks }

func (s *spawned) Lacks(string) string { return "" }

// wantConsulted holds that a tool hands what it is given to the subagent of its name,
// waits for it without a time limit of its own, and answers with what it said (R99,
// R103).
func wantConsulted(t *testing.T, tool tools.Tool, args string, want tools.Delegation) {
	t.Helper()
	spawner := &spawned{out: &tools.Delegated{
		Record:  transcript.ChildRecord{ID: "ses_1", Agent: tool.ID, State: transcript.ChildDone, Output: "the answer"},
		Summary: "ended", Card: []kinds.Content{kinds.Text{Text: "card"}},
	}}
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Agents = spawner
	result, err := rt.Run(t.Context(), tool, tool.ID, args)
	if err != nil {
		t.Fatal(err)
	}
	want.CallID = "call_test"
	if diff := cmp.Diff([]tools.Delegation{want}, spawner.got); diff != "" {
		t.Errorf("delegation (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(result.ModelText(), "the answer") || len(result.Content) != 1 {
		t.Errorf("text %q, content %v", result.ModelText(), result.Content)
	}
	if !tool.DisableTimeout || !tool.Delegates {
		t.Errorf("time limit off: %v, delegates: %v; want both", tool.DisableTimeout, tool.Delegates)
	}
	spawner.out, spawner.err = nil, tools.Errorf(tools.Denied, "too deep")
	wantFailure(t, rt, tool, args, tools.Denied, "too deep")
	rt.Serve.Agents = nil
	wantFailure(t, rt, tool, args, tools.Unavailable, "Sub-agents not enabled")
}

// What is asked must be something, and files are named within bounds, each in a line.
func TestConsult_Refuses(t *testing.T) {
	t.Parallel()
	many := `"f"` + strings.Repeat(`,"f"`, maxNamedFiles)
	tests := []struct {
		tool       tools.Tool
		args, want string
	}{
		{newFinder(), `{"query":" \n"}`, "query must not be empty"},
		{newFinder(), `{}`, "query"},
		{newOracle(), `{"task":""}`, "task must not be empty"},
		{newOracle(), `{"task":"t","files":{"a":"b"}}`, "files"},
		{newOracle(), `{"task":"t","files":[` + many + `]}`, "101 paths"},
		{newLibrarian(), `{"query":""}`, "query must not be empty"},
		{newLibrarian(), `{"query":"q","files":[]}`, "files"},
		{newKraken(), `{"prompt":""}`, "prompt must not be empty"},
		{newKraken(), `{"prompt":"p","context":"c"}`, "context"},
	}
	for _, tt := range tests {
		t.Run(tt.tool.ID+"/"+tt.want, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{})
			spawner := &spawned{}
			rt.Serve.Agents = spawner
			wantFailure(t, rt, tt.tool, tt.args, tools.BadInput, tt.want)
			if len(spawner.got) > 0 {
				t.Errorf("delegated %v all the same", spawner.got)
			}
		})
	}
}
