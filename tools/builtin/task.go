package builtin

import (
	"context"
	_ "embed"
	"encoding/json"

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
func taskTitle(args json.RawMessage, _ kinds.Place) kinds.Card {
	a := given[taskArgs](args)
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
func preprocessTask(args json.RawMessage, _ tools.Env) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) != nil || object == nil {
		return args, nil // the schema check names what is wrong
	}
	given, hasContext := object[taskContext]
	delete(object, taskContext)
	_, hasType := object["subagent_type"]
	_, hasPrompt := object["prompt"]
	short := !hasType && hasPrompt && len(object) == 1
	if !short && !hasContext {
		return args, nil
	}
	if short {
		object["subagent_type"] = json.RawMessage(`"` + generalSubagent + `"`)
	}
	if hasContext {
		if err := keepContext(object, given); err != nil {
			return nil, err
		}
	}
	return json.Marshal(object)
}

// keepContext puts the context among the metadata. Metadata of another shape
// stay: the schema check names what is wrong with them.
func keepContext(object map[string]json.RawMessage, given json.RawMessage) error {
	var value any
	if json.Unmarshal(given, &value) != nil {
		return nil
	}
	text, ok := value.(string)
	if !ok {
		return tools.Errorf(tools.BadInput, "task: argument %q must be a string", taskContext)
	}
	metadata := map[string]json.RawMessage{}
	if raw, ok := object["metadata"]; ok && (json.Unmarshal(raw, &metadata) != nil || metadata == nil) {
		return nil
	}
	if raw, ok := metadata[taskContext]; ok {
		var kept any
		if json.Unmarshal(raw, &kept) != nil || kept != text {
			return tools.Errorf(tools.BadInput, "task: %q was given twice, with different values", taskContext)
		}
	}
	metadata[taskContext] = given
	raw, err := json.Marshal(metadata)
	object["metadata"] = raw
	return err
}
