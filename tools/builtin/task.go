package builtin

import (
	"context"
	_ "embed"
	"maps"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed task.md
var taskPrompt string

// generalSubagent is whom the short form of a call goes to, and taskContext the
// key of metadata under which its context is handed on.
const (
	generalSubagent = "general"
	taskContext     = "context"
)

type taskArgs struct {
	SubagentType string         `json:"subagent_type"`
	Prompt       string         `json:"prompt"`
	Background   bool           `json:"background"`
	Metadata     map[string]any `json:"metadata"`
}

// newTask is the tool that hands work to a subagent (R62).
func newTask() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "task",
		Inward:      true,
		Description: prompt(taskPrompt),
		Kind:        kinds.Other,
		Label:       "Delegate task",
		Describe:    taskTitle,
		Default:     capability.AllowAlways,
		Parameters: object(
			text("subagent_type", "Which subagent."),
			text("prompt", "The task."),
			flag("background?", "Do not wait for it."),
			argument{"metadata?", &jsonschema.Schema{Type: "object", Description: "Kept with the subagent's session."}},
		),
		Aliases:        []tools.Alias{{Name: "Task"}},
		Accepts:        taskAccepts(),
		Preprocess:     preprocessTask,
		Profile:        &tools.Profile{},
		DisableTimeout: true,
		Delegates:      true,
		Lacks:          lacksAgent(""),
	}, runTask)
}

// taskTitle names the subagent and what it is to do.
func taskTitle(args tools.Args, _ kinds.Place) kinds.Card {
	a := tools.ArgsAs[taskArgs](args)
	if a.SubagentType == "" {
		return kinds.Card{Title: a.Prompt}
	}
	return kinds.Card{Title: a.SubagentType + " › " + a.Prompt}
}

func runTask(ctx context.Context, rt tools.Runtime, args taskArgs) (*tools.Result, error) {
	context, _ := args.Metadata[taskContext].(string) // see keepContext
	return delegate(ctx, rt, tools.Delegation{
		Agent: args.SubagentType, Prompt: args.Prompt, Context: context, Background: args.Background, Metadata: args.Metadata,
	})
}

// preprocessTask turns the short form {prompt, context?} into the whole one.
// Only that form may leave out the subagent (trap 48); whatever else
// lacks it is refused by the schema check. The context is for the subagent's
// system prompt, as data (R62).
func preprocessTask(args map[string]any, _ tools.Env) error {
	context, hasContext := args[taskContext]
	delete(args, taskContext)
	short := !given(args, "subagent_type") && given(args, "prompt") && len(args) == 1
	if short {
		args["subagent_type"] = generalSubagent
	}
	if hasContext {
		return keepContext(args, context)
	}
	return nil
}

// keepContext puts the context among the metadata. Metadata of another shape
// stay: the schema check names what is wrong with them.
func keepContext(args map[string]any, context any) error {
	text, ok := context.(string)
	if !ok {
		return tools.Errorf(tools.BadInput, "task: argument %q must be a string", taskContext)
	}
	metadata, ok := args["metadata"].(map[string]any)
	if !ok && given(args, "metadata") {
		return nil
	}
	if kept, ok := metadata[taskContext]; ok && kept != any(text) {
		return tools.Errorf(tools.BadInput, "task: %q was given twice, with different values", taskContext)
	}
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata[taskContext] = text
	args["metadata"] = metadata
	return nil
}

// given reports whether an argument was given, with whatever value.
func given(args map[string]any, name string) bool {
	_, has := args[name]
	return has
}
