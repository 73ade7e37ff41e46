package session

import (
	"slices"
	"sync"

	"acp-agent/permissions"
)

// choices are what the user chose for a session: its mode (mode.go), its model and thought level
// (models.go), and what becomes of prompts that come while a turn runs (steer.go). option.go has the
// form in which clients show them. They are safe for concurrent use, and call nothing else with a lock
// held.
type choices struct {
	modes  *modes
	models *models

	mu    sync.Mutex // guards queue
	queue string
}

// choice is the values of all options at one moment.
type choice struct {
	mode permissions.Mode
	// before is the mode that plan mode was entered from; empty when it was the
	// first.
	before  permissions.Mode
	model   string
	thought string
	queue   string // what becomes of prompts that come while a turn runs
}

// newChoices returns the choices of a new session.
func newChoices(modes *modes, models *models) *choices {
	return &choices{modes: modes, models: models, queue: queueAfter}
}

func (c *choices) get() choice {
	var now choice
	now.mode, now.before = c.modes.get()
	now.model, now.thought = c.models.get()
	c.mu.Lock()
	defer c.mu.Unlock()
	now.queue = c.queue
	return now
}

// restore sets the stored choices of a resumed session. Its mode is not among them: newModes starts in
// that.
func (c *choices) restore(stored storedChoices) {
	c.modes.restore(stored.Before)
	c.models.restore(stored.Model, stored.Thought)
	if stored.Queue == queueSteer {
		c.setQueue(queueSteer)
	}
}

func (c *choices) setQueue(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = value
}

// options lists the settings with their current values.
func (c *choices) options() []Option {
	return slices.Concat([]Option{c.modes.option()}, c.models.options(), []Option{queueOption(c.get().queue)})
}

// setOption changes one setting. It neither blocks nor emits anything: the
// caller announces the change where it is in order, once Decide has returned.
func (c *choices) setOption(id, value string) error {
	if id == ModeOption && c.modes.postponeAuto(value) {
		return nil
	}
	options := c.options()
	at := slices.IndexFunc(options, func(o Option) bool { return o.ID == id })
	if at < 0 {
		return &BadValueError{What: "config option", Got: id, Legal: optionIDs(options)}
	}
	if legal := valueIDs(options[at].Values); !slices.Contains(legal, value) {
		return &BadValueError{What: options[at].Name, Got: value, Legal: legal, Why: c.whyNot(id, value)}
	}
	switch id {
	case ModeOption:
		c.modes.switchTo(permissions.Mode(value))
	case ModelOption:
		c.models.choose(value)
	case ThoughtOption:
		c.models.setThought(value)
	case QueueOption:
		c.setQueue(value)
	}
	return nil
}

// whyNot says why a value that exists is not offered.
func (c *choices) whyNot(option, value string) string {
	switch option {
	case ModelOption:
		return c.models.whyNot(value)
	case ModeOption:
		return c.modes.whyNot(value)
	}
	return ""
}
