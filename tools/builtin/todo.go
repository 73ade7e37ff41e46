package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

//go:embed todo.md
var todoPrompt string

// todoLabel is the title of the card, before the item that is worked on.
const todoLabel = "Update plan"

// maxTodos bounds the list, and maxTodoText one entry, in bytes.
const (
	maxTodos    = 100
	maxTodoText = 1000
)

// The states of an item, as the plan of the protocol names them.
const (
	todoPending   = "pending"
	todoActive    = "in_progress"
	todoCompleted = "completed"
)

type todoArgs struct {
	Todos []todoItem `json:"todos"`
}

type todoItem struct {
	Content    string `json:"content"`
	Status     string `json:"status"`
	Priority   string `json:"priority"`
	ActiveForm string `json:"activeForm"`
}

// todoData counts what the list now holds; the list itself is not repeated to
// the model that has just written it (R15).
type todoData struct {
	Total      int `json:"total"`
	Pending    int `json:"pending"`
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
}

// newTodo is the tool that keeps the session's list of what is to be done (R60,
// R61). The list has at most 100 items of at most 1,000 bytes.
func newTodo() tools.Tool {
	item := object(
		text("content", ""),
		choice("status", "", todoPending, todoActive, todoCompleted),
		defaulted(choice("priority?", "", "high", "medium", "low"), `"medium"`),
		text("activeForm?", "What is shown while it is in_progress."),
	)
	return tools.Define(tools.Spec{
		ID:          "todo",
		Inward:      true,
		Description: prompt(todoPrompt),
		Kind:        kinds.Other,
		Label:       todoLabel,
		Default:     capability.AllowAlways,
		Parameters:  object(several("todos", "The whole list.", item)),
		Aliases:     []tools.Alias{{Name: "todo_write"}, {Name: "TodoWrite"}},
		Accepts:     todoAccepts(),
		Profile: &tools.Profile{Keys: func(tools.Args, tools.Env) []tools.ResourceKey {
			return []tools.ResourceKey{{Key: "todo", Write: true}} // the last of several lists is the one that stays
		}},
	}, writeTodos)
}

// choice is an argument with a closed set of values.
func choice(name, description string, values ...any) argument {
	return argument{name, &jsonschema.Schema{Type: "string", Description: description, Enum: values}}
}

// several is an argument that is an array.
func several(name, description string, items *jsonschema.Schema) argument {
	return argument{name, &jsonschema.Schema{Type: "array", Description: description, Items: items}}
}

func writeTodos(ctx context.Context, rt tools.Runtime, a todoArgs) (*tools.Result, error) {
	if len(a.Todos) > maxTodos {
		return nil, &tools.Error{
			Kind: tools.BadInput, Message: fmt.Sprintf("todo: %d items are too many, the most is %d", len(a.Todos), maxTodos),
			Hint: "put several steps into one item, or leave out what is completed",
		}
	}
	entries := make([]transcript.PlanEntry, len(a.Todos))
	data, active := todoData{Total: len(a.Todos)}, ""
	for i, item := range a.Todos {
		if strings.TrimSpace(item.Content) == "" || len(item.Content) > maxTodoText {
			return nil, tools.Errorf(tools.BadInput, "todo: the content of item %d must have 1 to %d bytes", i+1, maxTodoText)
		}
		if item.Priority == "" {
			item.Priority = "medium"
		}
		entries[i] = transcript.PlanEntry{Content: item.Content, Priority: item.Priority, Status: item.Status}
		switch item.Status {
		case todoActive:
			data.InProgress++
			if active == "" {
				active = item.ActiveForm
			}
		case todoCompleted:
			data.Completed++
		default:
			data.Pending++
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rt.Services().Memory.SetPlan(entries)
	result := &tools.Result{Data: data, Text: data.text(), Content: todoCard(entries)}
	if active != "" {
		result.Title = kinds.Line(todoLabel+": "+active, titleRunes)
	}
	return result, nil
}

// todoCard is the list as the user sees it.
func todoCard(entries []transcript.PlanEntry) []kinds.Content {
	if len(entries) == 0 {
		return sentenceCard("The list is empty.")
	}
	marks := map[string]string{todoCompleted: "✓ ", todoActive: "→ "}
	var b strings.Builder
	for _, entry := range entries {
		b.WriteString(cmp.Or(marks[entry.Status], "○ ") + kinds.Line(entry.Content, maxTodoText) + "\n")
	}
	return textCard(b.String())
}

// titleRunes bounds a title that a tool makes.
const titleRunes = kinds.TitleRunes

func (d todoData) text() string {
	if d.Total == 0 {
		return "The list is empty now."
	}
	text := fmt.Sprintf("List saved: %d pending, %d in_progress, %d completed.", d.Pending, d.InProgress, d.Completed)
	if d.InProgress > 1 {
		text += fmt.Sprintf(" Note that %d items are in_progress; work on one at a time.", d.InProgress)
	}
	return text
}
