package session

import (
	"fmt"
	"slices"

	"acp-agent/model"
	"acp-agent/permissions"
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

// BadValueError is a mode, option or value that does not exist, or not here.
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

// Options lists the settings with their current values.
func (c *choices) Options() []Option {
	chosen := c.get()
	mode := Option{ID: ModeOption, Name: "Mode", Category: "mode", Current: string(chosen.mode), Description: "How much the agent may do without asking."}
	for _, m := range c.Modes() {
		mode.Values = append(mode.Values, Value{ID: m.ID, Name: m.Name, Description: m.Description})
	}
	options := []Option{mode}
	backend := c.lastBackend()
	pick := Option{ID: ModelOption, Name: "Model", Category: "model", Current: chosen.model, Description: "The model that answers."}
	for _, info := range c.models(backend, chosen.model) {
		pick.Values = append(pick.Values, modelValue(info))
	}
	options = append(options, pick)
	if levels := backend.Provider.Describe(c.life.ctx, chosen.model).ThoughtLevels; len(levels) > 0 {
		options = append(options, thoughtOption(levels, chosen.thought))
	}
	return append(options, queueOption(chosen.queue))
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

// models lists the configured model, the chosen one, and what the server
// offers as far as it is known.
func (c *choices) models(backend Backend, chosen string) []model.Info {
	grouped := func(id string) model.Info {
		return model.Info{ID: id, Group: backend.Provider.Describe(c.life.ctx, id).Group}
	}
	list := []model.Info{grouped(backend.Model)}
	c.mu.Lock()
	admitted := c.admitted
	c.mu.Unlock()
	for _, id := range []string{chosen, admitted} {
		if id != "" && !slices.ContainsFunc(list, func(have model.Info) bool { return have.ID == id }) {
			list = append(list, grouped(id))
		}
	}
	for _, info := range c.catalogue.list(backend.Provider) {
		known := slices.IndexFunc(list, func(have model.Info) bool { return have.ID == info.ID })
		if known >= 0 {
			list[known] = info
			continue
		}
		list = append(list, info)
	}
	return list
}

// modelValue is a model as a choice. Among several servers its name is the whole id, for
// an editor may show the current one without its heading.
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

// AdmitModel makes a model selectable that the server may not list.
func (c *choices) AdmitModel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.admitted = id
}

// SetOption changes one setting. It neither blocks nor emits anything: the
// caller announces the change where it is in order, once Decide has returned.
func (c *choices) SetOption(id, value string) error {
	if c.postponeAuto(id, value) {
		return nil
	}
	options := c.Options()
	at := slices.IndexFunc(options, func(o Option) bool { return o.ID == id })
	if at < 0 {
		return &BadValueError{What: "config option", Got: id, Legal: optionIDs(options)}
	}
	legal := make([]string, len(options[at].Values))
	for i, v := range options[at].Values {
		legal[i] = v.ID
	}
	if !slices.Contains(legal, value) {
		return &BadValueError{What: options[at].Name, Got: value, Legal: legal, Why: c.whyNot(id, value)}
	}
	if id == ModeOption {
		c.switchMode(permissions.Mode(value))
		return nil
	}
	if id == ThoughtOption {
		c.setThought(value)
		return nil
	}
	if id == QueueOption {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.current.queue = value
		return nil
	}
	levels := c.lastBackend().Provider.Describe(c.life.ctx, value).ThoughtLevels
	c.mu.Lock()
	c.current.model = value
	if !slices.Contains(levels, c.current.thought) {
		c.current.thought = "" // the new model does not know this level
	}
	c.mu.Unlock()
	c.learn(value)
	return nil
}

func (c *choices) setThought(level string) {
	if level == defaultThought {
		level = ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.thought = level
}

func optionIDs(options []Option) []string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = o.ID
	}
	return ids
}
