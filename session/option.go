package session

import (
	"fmt"
	"slices"

	"acp-agent/model"
)

// Option is a setting of a session that the user may change (ACP, session
// config options). The order of options is their priority.
type Option struct {
	ID, Name, Description string
	// Category is mode, model, thought_level or empty.
	Category string
	Current  string
	Values   []Value
}

// Value is one choice of an Option. Group is the heading under which it stands; empty
// means none.
type Value struct {
	ID, Name, Description, Group string
}

// The ids of the options.
const (
	ModeOption    = "mode"
	ModelOption   = "model"
	ThoughtOption = "thought_level"
	QueueOption   = "queue"
)

// BadValueError says that a mode, option or value does not exist, or cannot be chosen.
type BadValueError struct {
	What, Got string
	Legal     []string
	// Why says why a value that exists cannot be chosen; empty when it does not
	// exist.
	Why string
}

// Error names the legal values.
func (e *BadValueError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%s %q is not available: %s; it must be one of %q", e.What, e.Got, e.Why, e.Legal)
	}
	return fmt.Sprintf("unknown %s %q; it must be one of %q", e.What, e.Got, e.Legal)
}

// defaultThought is the value that leaves the effort to the server.
const defaultThought = "default"

func thoughtOption(levels []string, current string) Option {
	if !slices.Contains(levels, current) {
		current = defaultThought
	}
	o := Option{
		ID: ThoughtOption, Name: "Thinking", Category: "thought_level", Current: current,
		Description: "How long the model may think before it answers.",
		Values:      []Value{{ID: defaultThought, Name: "Default"}},
	}
	for _, level := range levels {
		o.Values = append(o.Values, Value{ID: level, Name: level})
	}
	return o
}

// modelValue is a model as a value of the option. With several servers its name is the whole id,
// because an editor may show the current value without the heading of its group.
func modelValue(info model.Info) Value {
	if info.Group == "" {
		return Value{ID: info.ID, Name: nameOf(info)}
	}
	return Value{ID: info.ID, Name: info.ID, Description: info.Name, Group: info.Group}
}

func nameOf(info model.Info) string {
	if info.Name != "" {
		return info.Name
	}
	return info.ID
}

func optionIDs(options []Option) []string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = o.ID
	}
	return ids
}

func valueIDs(values []Value) []string {
	ids := make([]string, len(values))
	for i, v := range values {
		ids[i] = v.ID
	}
	return ids
}
