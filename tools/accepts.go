package tools

import (
	"encoding/json"
	"strings"
)

// Accepts is what a tool understands besides its schema: how models that were trained with the
// tools of other agents write its calls. It is data; one stage
// of the pipeline applies it, before anything is judged, so that rules, card and
// tool see the final arguments only.
type Accepts struct {
	// Names are names of the tool elsewhere. They count after the ids and aliases
	// of all tools, so a tool from elsewhere may have any of them for its own.
	Names []ForeignName
	// Fields are foreign arguments, by name. Case, "_" and "-" do not matter; a
	// field within a list is written "todos[].task". A single letter is told by
	// its case.
	Fields map[string]Field
	// Sole is the argument that is meant by a call which is one bare text.
	Sole string
	// Freeform is how a bare text begins that is not JSON and still is the argument
	// Sole; "" when there is none.
	Freeform string
	// Finish puts together what several fields say. It runs after the fields, on
	// arguments under their canonical names, and must be pure.
	Finish func(args map[string]any) error
}

// ForeignName is a name of a tool in another agent.
type ForeignName struct {
	Name string
	// When limits the name to calls with these arguments, such as "command" for an
	// editor of several commands; they are taken out of the call. With "" any value
	// will do, and stays.
	When map[string]string
	// Alone are the arguments of a call that has none.
	Alone json.RawMessage
	// Answer refuses the call with the words that the model reads instead.
	Answer string
	// Fields are what arguments mean under this name only.
	Fields map[string]Field
}

// Field says what is done with a foreign argument.
type Field struct {
	// To is the argument that it stands for; Finish may know names that the schema
	// does not have.
	To string
	// Map changes the value on its way; nil keeps it.
	Map func(value any) (any, error)
	// Drop leaves the argument out. The text says why that changes nothing.
	Drop string
	// Neutral are values that say nothing: the argument is left out. With another
	// one, Refuse are the words that the model reads.
	Neutral []any
	Refuse  string
}

// fold makes spellings of one name equal.
func fold(name string) string {
	if len(name) <= 2 { // the flags -a and -A are different
		return name
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, name))
}

// harmless are arguments that say something about a call and change nothing in
// it, whatever the tool. What the user sees of a call is made of what it does.
var harmless = map[string]Field{
	"description": {Drop: note}, "explanation": {Drop: note}, "justification": {Drop: note},
	"reason": {Drop: note}, "reasoning": {Drop: note}, "thought": {Drop: note}, "thoughts": {Drop: note},
	"intent": {Drop: note}, "purpose": {Drop: note}, "rationale": {Drop: note},
	"toolSummary": {Drop: note}, "toolAction": {Drop: note}, "tool_call_description": {Drop: note},
	"instructions": {Drop: note}, "instruction": {Drop: note}, "task_progress": {Drop: note},
	"requires_approval": {Drop: asked}, "SafeToAutoRun": {Drop: asked}, "safe": {Drop: asked},
	"security_risk":        {Drop: asked},
	"wait_for_previous":    {Drop: "calls that depend on each other never run at once"},
	"waitForPreviousTools": {Drop: "calls that depend on each other never run at once"},
	"timeout":              {Drop: limited}, "timeout_ms": {Drop: limited}, "timeout_seconds": {Drop: limited},
	"run_in_background": {Neutral: []any{false}, Refuse: noBackground},
	"is_background":     {Neutral: []any{false}, Refuse: noBackground},
	"background":        {Neutral: []any{false}, Refuse: noBackground},
	"dry_run":           {Neutral: []any{false}, Refuse: "there is no dry run; nothing was done"},
	"encoding":          {Neutral: []any{"utf-8", "utf8", "UTF-8", "UTF8"}, Refuse: "files are read and written as UTF-8"},
}

const (
	note         = "it has no effect"
	asked        = "the user's rules decide what is asked"
	limited      = "the tool has a time limit of its own"
	noBackground = "this tool cannot run in the background; nothing was started"
)

// field finds what is known of a foreign argument; under is the name of the list
// that it stands in, with "[].", or "".
func (a *Accepts) field(own map[string]Field, under, name string) (Field, bool) {
	tables := []map[string]Field{own}
	if a != nil {
		tables = append(tables, a.Fields)
	}
	if under == "" {
		tables = append(tables, harmless)
	}
	for _, table := range tables {
		if found, ok := lookUp(table, under+name); ok {
			return found, true
		}
	}
	return Field{}, false
}

func lookUp(table map[string]Field, name string) (Field, bool) {
	if found, ok := table[name]; ok {
		return found, true
	}
	folded := fold(name)
	for key, found := range table {
		if fold(key) == folded {
			return found, true
		}
	}
	return Field{}, false
}
