package builtin

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

func TestTaskList(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	began := rt.Clock().Now().Add(-90 * time.Second)
	rt.Serve.Agents = &spawned{tasks: []transcript.ChildRecord{
		{
			ID: "ses_1", Agent: "fix", Path: []string{"explore", "fix"}, Prompt: "mend\nit", State: transcript.ChildRunning, Background: true,
			Queued: began.Add(-time.Hour), Started: began, Calls: 3, Usage: transcript.Usage{Input: 10, Output: 5},
		},
		{
			ID: "ses_2", Agent: "explore", Path: []string{"explore"}, Prompt: "look", State: transcript.ChildFailed,
			Queued: began, Started: began, Ended: began.Add(5 * time.Second), Note: "the model\nis gone",
		},
	}}
	running := listedTask{
		SessionID: "ses_1", Agent: "fix", Path: []string{"explore", "fix"}, State: transcript.ChildRunning, Background: true,
		Prompt: "mend it", ElapsedMS: 90_000, ToolCalls: 3, Tokens: 15,
	}
	failed := listedTask{
		SessionID: "ses_2", Agent: "explore", Path: []string{"explore"}, State: transcript.ChildFailed, Prompt: "look",
		Note: "the model is gone", ElapsedMS: 5000,
	}
	tests := []struct {
		name, args string
		want       []listedTask
		text       string
	}{
		{
			"all", `{}`,
			[]listedTask{running, failed},
			"ses_1 explore > fix (running, background): mend it [1m30s, tool calls: 3, tokens: 15]\n" +
				"ses_2 explore (failed): look [5s, tool calls: 0, tokens: 0] Note: the model is gone",
		},
		{
			"of one state", `{"state":"failed"}`,
			[]listedTask{failed},
			"ses_2 explore (failed): look [5s, tool calls: 0, tokens: 0] Note: the model is gone",
		},
		{"none", `{"state":"lost"}`, []listedTask{}, "No subagents"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result, err := rt.Run(t.Context(), newTaskList(), "task_list", tt.args)
			if err != nil {
				t.Fatal(err)
			}
			shown := regexp.MustCompile(`(?m)^ses_\d `).ReplaceAllString(tt.text, "")
			wantCard(t, result, shown, "")
			if diff := cmp.Diff(taskListData{Tasks: tt.want}, result.Data); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, result.ModelText()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
	wantFailure(t, rt, newTaskList(), `{"state":"asleep"}`, tools.BadInput, "state")
	wantFailure(t, tooltest.New(tooltest.Options{}), newTaskList(), `{}`, tools.Unavailable, "Sub-agents not enabled")
}

// Of many the last are listed, and the others counted.
func TestTaskList_Many(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	many := &spawned{}
	for i := range maxListedTasks + 5 {
		many.tasks = append(many.tasks, transcript.ChildRecord{ID: fmt.Sprintf("ses_%d", i), State: transcript.ChildDone})
	}
	rt.Serve.Agents = many
	result, err := rt.Run(t.Context(), newTaskList(), "task_list", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := result.Data.(taskListData)
	if len(data.Tasks) != maxListedTasks || data.Earlier != 5 || data.Tasks[0].SessionID != "ses_5" {
		t.Errorf("%d tasks, %d earlier ones", len(data.Tasks), data.Earlier)
	}
	if !strings.HasPrefix(result.ModelText(), "(5 earlier ones are left out)\n") {
		t.Errorf("text %.80q", result.ModelText())
	}
}
