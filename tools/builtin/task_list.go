package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// The limits of task_list.
const (
	maxListedTasks = 100 // the last ones
	askedRunes     = 120 // of what a subagent was asked, and of its note
)

//go:embed task_list.md
var taskListPrompt string

type taskListArgs struct {
	State transcript.ChildState `json:"state"`
}

// taskListData is the data of a listing.
type taskListData struct {
	Tasks []listedTask `json:"tasks"`
	// Earlier counts the tasks that are left out.
	Earlier int `json:"earlier,omitempty"`
}

// listedTask is one subagent in a listing.
type listedTask struct {
	SessionID  string                `json:"session_id"`
	Agent      string                `json:"agent"`
	Path       []string              `json:"path"`
	State      transcript.ChildState `json:"state"`
	Background bool                  `json:"background"`
	// Prompt is what it was asked, in one line; Note what kept it from ending by itself.
	Prompt string `json:"prompt"`
	Note   string `json:"note,omitempty"`
	// ElapsedMS is since it began, or was wanted when it has not started.
	ElapsedMS int64 `json:"elapsed_ms"`
	ToolCalls int   `json:"tool_calls"`
	Tokens    int   `json:"tokens"`
}

// newTaskList is the tool that lists the subagents of the session, at most
// maxListedTasks of them.
func newTaskList() tools.Tool {
	var states []any
	for _, state := range transcript.ChildStates() {
		states = append(states, string(state))
	}
	return tools.Define(tools.Spec{
		ID:          "task_list",
		Inward:      true,
		Description: prompt(taskListPrompt),
		Kind:        kinds.Read,
		Label:       "List tasks",
		Default:     capability.AllowAlways,
		Parameters: object(argument{"state?", &jsonschema.Schema{
			Type: "string", Enum: states, Description: "Only those in this state.",
		}}),
		Profile:  &tools.Profile{},
		Lacks:    lacksAgents,
		ReadOnly: true,
	}, listTasks)
}

func listTasks(_ context.Context, rt tools.Runtime, args taskListArgs) (*tools.Result, error) {
	spawner, err := spawnerOf(rt)
	if err != nil {
		return nil, err
	}
	now, data := rt.Clock().Now(), taskListData{Tasks: []listedTask{}}
	for _, record := range spawner.Tasks() {
		if args.State == "" || record.State == args.State {
			data.Tasks = append(data.Tasks, listed(record, now))
		}
	}
	if data.Earlier = max(0, len(data.Tasks)-maxListedTasks); data.Earlier > 0 {
		data.Tasks = data.Tasks[data.Earlier:]
	}
	return &tools.Result{Data: data, Text: data.text(true), Content: textCard(data.text(false))}, nil
}

func listed(r transcript.ChildRecord, now time.Time) listedTask {
	return listedTask{
		SessionID: r.ID, Agent: r.Agent, Path: r.Path, State: r.State, Background: r.Background,
		Prompt: kinds.Line(r.Prompt, askedRunes), Note: kinds.Line(r.Note, askedRunes),
		ElapsedMS: r.Elapsed(now).Milliseconds(), ToolCalls: r.Calls, Tokens: r.Usage.Total(),
	}
}

// text lists the subagents, to the model with the ids that it can use.
func (d taskListData) text(ids bool) string {
	if len(d.Tasks) == 0 {
		return "No subagents"
	}
	var b strings.Builder
	if d.Earlier > 0 {
		fmt.Fprintf(&b, "(%d earlier ones are left out)\n", d.Earlier)
	}
	for _, t := range d.Tasks {
		state := string(t.State)
		if t.Background {
			state += ", background"
		}
		elapsed := (time.Duration(t.ElapsedMS) * time.Millisecond).Truncate(time.Second)
		if ids {
			b.WriteString(t.SessionID + " ")
		}
		fmt.Fprintf(&b, "%s (%s): %s [%s, tool calls: %d, tokens: %d]", transcript.PathText(t.Path), state, t.Prompt, elapsed, t.ToolCalls, t.Tokens)
		if t.Note != "" {
			b.WriteString(" Note: " + t.Note)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
