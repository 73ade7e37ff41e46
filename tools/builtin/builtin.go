package builtin

import (
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/internal/websearch"
	"acp-agent/tools"
)

// Options say how the tools work. The zero value is the default.
type Options struct {
	// Ripgrep is the absolute path of a ripgrep that glob and grep ask first
	// (R45, R49); empty means our own engine alone.
	Ripgrep string
	// Search are the providers of web_search; a session keeps to one (R81).
	Search []websearch.Provider
	// Formatters are those of format_file by extension, before the shipped ones:
	// a program that reads the text and writes it formatted, with "{file}" for
	// the file's path.
	Formatters map[string][]string
	// MaxMatches is the most that one tool_search finds; 0 means 10.
	MaxMatches int
	// Checks are the commands of check.
	Checks []Check
}

// All returns the tools with the default options.
func All() []tools.Tool { return Options{}.All() }

// All returns the tools in the order in which the model is told of them.
func (o Options) All() []tools.Tool {
	rg := ripgrep{o.Ripgrep}
	return []tools.Tool{
		newRead(),
		newWrite(),
		newEdit(),
		newGlob(rg),
		newGrep(rg),
		newBash(),
		newTodo(),
		newTask(),
		newQuestion(),
		newWebSearch(o.Search),
		newWebFetch(),
		newSkill(),
		newToolSearch(o.MaxMatches),

		newApplyPatch(),
		newUndoEdit(),
		newDeleteFile(),
		newFormatFile(o.Formatters),
		newCheck(o.Checks),
		newLSP(),
		newRepoOverview(),
		newRepoClone(),
		newViewImage(),
		newPlan(),
		newPlanExit(),
		newFinder(),
		newOracle(),
		newLibrarian(),
		newKraken(),
		newTaskList(),
		newJobOutput(),
		newJobStop(),
		newJobList(),
		newFindThread(),
		newReadThread(),
	}
}

// The variables of the paths that file tools require (R111).
const (
	workspaceScope = "{workspace}"
	adHocScope     = "{ad-hoc}"
)

// argument is one property of a tool's schema.
type argument struct {
	name   string
	schema *jsonschema.Schema
}

// object makes the schema of a tool's arguments. Names end in "?" when the
// argument is optional; no others are allowed, so that none is silently
// ignored (R15).
func object(arguments ...argument) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, a := range arguments {
		name, optional := strings.CutSuffix(a.name, "?")
		if !optional {
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = a.schema
		s.PropertyOrder = append(s.PropertyOrder, name)
	}
	return s
}

func text(name, description string) argument {
	return argument{name, &jsonschema.Schema{Type: "string", Description: description}}
}

func number(name, description string) argument {
	return argument{name, &jsonschema.Schema{Type: "number", Description: description}}
}

func texts(name, description string) argument {
	return argument{name, &jsonschema.Schema{
		Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: description,
	}}
}

func flag(name, description string) argument {
	return argument{name, &jsonschema.Schema{Type: "boolean", Description: description}}
}

// defaulted states in the schema what an argument is when it is not given.
func defaulted(a argument, value string) argument {
	a.schema.Default = []byte(value)
	return a
}

func pair(name, description string) argument {
	two := 2
	return argument{name, &jsonschema.Schema{
		Type: "array", Items: &jsonschema.Schema{Type: "number"}, MinItems: &two, MaxItems: &two, Description: description,
	}}
}

// prompt is an embedded description as the model reads it.
func prompt(embedded string) string { return strings.TrimSpace(embedded) }
