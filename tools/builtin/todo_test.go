package builtin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

func TestTodo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, as, args string
		want           []transcript.PlanEntry
		text, title    string
	}{
		{
			"the complete list", "todo",
			`{"todos":[{"content":"read","status":"completed"},{"content":"write","status":"in_progress","priority":"high","activeForm":"Writing\nnow"},{"content":"test","status":"pending","priority":"low"}]}`,
			[]transcript.PlanEntry{
				{Content: "read", Priority: "medium", Status: "completed"},
				{Content: "write", Priority: "high", Status: "in_progress"},
				{Content: "test", Priority: "low", Status: "pending"},
			},
			"List saved: 1 pending, 1 in_progress, 1 completed.", "Update plan: Writing now",
		},
		{
			"two in progress", "TodoWrite",
			`{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`,
			[]transcript.PlanEntry{{Content: "a", Priority: "medium", Status: "in_progress"}, {Content: "b", Priority: "medium", Status: "in_progress"}},
			"List saved: 0 pending, 2 in_progress, 0 completed. Note that 2 items are in_progress; work on one at a time.", "",
		},
		{"cleared", "todo_write", `{"todos":[]}`, nil, "The list is empty now.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{})
			rt.Remembered.SetPlan([]transcript.PlanEntry{{Content: "old", Priority: "high", Status: "pending"}})
			result, err := rt.Run(t.Context(), newTodo(), tt.as, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			got := rt.Remembered.Plan()
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			shown := map[string]string{
				"the complete list": "✓ read\n→ write\n○ test\n", "two in progress": "→ a\n→ b\n", "cleared": "",
			}[tt.name]
			wantCard(t, result, shown, map[bool]string{true: "The list is empty."}[shown == ""])
			if result.ModelText() != tt.text || result.Title != tt.title {
				t.Errorf("text %q, title %q; want %q, %q", result.ModelText(), result.Title, tt.text, tt.title)
			}
		})
	}
}

func TestTodo_Refuses(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`{"content":"x","status":"pending"},`, maxTodos+1), ",")
	tests := []struct{ name, args, want string }{
		{"too many", `{"todos":[` + many + `]}`, "101 items"},
		{"empty", `{"todos":[{"content":" ","status":"pending"}]}`, "item 1"},
		{"long", fmt.Sprintf(`{"todos":[{"content":"x","status":"pending"},{"content":%q,"status":"pending"}]}`, strings.Repeat("x", maxTodoText+1)), "item 2"},
		{"unknown status", `{"todos":[{"content":"x","status":"soon"}]}`, "status"},
		{"unknown priority", `{"todos":[{"content":"x","status":"pending","priority":"soonish"}]}`, "priority"},
		{"unknown argument", `{"todos":[{"content":"x","status":"pending","owner":"1"}]}`, "owner"},
		{"no list", `{}`, "todos"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{})
			before := []transcript.PlanEntry{{Content: "old", Priority: "high", Status: "pending"}}
			rt.Remembered.SetPlan(before)
			wantFailure(t, rt, newTodo(), tt.args, tools.BadInput, tt.want)
			if diff := cmp.Diff(before, rt.Remembered.Plan()); diff != "" {
				t.Errorf("the plan changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTodo_CallsAreOrdered(t *testing.T) {
	t.Parallel()
	keys := newTodo().Profile.Keys(tools.Args{}, tools.Env{})
	if diff := cmp.Diff([]tools.ResourceKey{{Key: "todo", Write: true}}, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// wantFailure runs a call that must fail with an error of a kind that mentions
// something.
func wantFailure(t *testing.T, rt *tooltest.Runtime, tool tools.Tool, args string, kind tools.ErrorKind, mention string) *tools.Error {
	t.Helper()
	result, err := rt.Run(t.Context(), tool, tool.ID, args)
	failure, ok := err.(*tools.Error)
	if !ok || failure.Kind != kind || !strings.Contains(failure.Error(), mention) {
		t.Fatalf("%s(%.200s) = %+v, %v; want a failure of kind %s that mentions %q", tool.ID, args, result, err, kind, mention)
	}
	return failure
}
