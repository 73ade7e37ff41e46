package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Mode is a way of working that the user may pick.
type Mode struct {
	ID, Name, Description string
}

// Modes lists the modes that the session offers (R157). Auto is the first of them where
// processes are confined and kept from the network, and the last where that is still being found
// out: the list cannot be sent again to a client that knows no options.
func (c *choices) Modes() []Mode {
	modes := []Mode{
		{ID: string(permissions.ModeAsk), Name: "Ask", Description: "Asks before every change and every command that is not read-only."},
		{ID: string(permissions.ModeCode), Name: "Code", Description: "Edits files inside the project without asking; commands are still judged."},
		{ID: string(permissions.ModePlan), Name: "Plan", Description: "Changes nothing: reads, and writes down a plan."},
	}
	if _, known := c.sandbox.Expected(); known {
		return append(c.autoMode(), modes...)
	}
	return append(modes, c.autoMode()...)
}

// Mode returns the current mode's id.
func (c *choices) Mode() string { return string(c.get().mode) }

// modeNamed describes a mode.
func (c *choices) modeNamed(id permissions.Mode) Mode {
	modes := c.Modes()
	i := slices.IndexFunc(modes, func(m Mode) bool { return m.ID == string(id) })
	if i < 0 {
		return Mode{ID: string(id), Name: string(id)}
	}
	return modes[i]
}

// SetMode changes the mode: questions follow from the next tool call on, tools
// from the next model request on, and a running turn goes on.
func (c *choices) SetMode(id string) error {
	return c.SetOption(ModeOption, id)
}

// switchMode makes a mode the current one.
func (c *choices) switchMode(to permissions.Mode) {
	c.mu.Lock()
	c.changeMode(to)
	c.mu.Unlock()
	c.modeChanged()
}

// changeMode notes the mode, under c.mu. The caller then puts its rules in force with
// modeChanged, without the lock; of two changes in a row both apply the later one.
func (c *choices) changeMode(to permissions.Mode) {
	if to == permissions.ModePlan && c.current.mode != to {
		c.current.before = c.current.mode
	}
	c.current.mode, c.pending, c.byClient = to, "", false
}

var errNoPlanMode = errors.New("the session is not in plan mode")

// afterPlan is the mode that leaving plan mode leads to: the one that it was
// entered from, or code. The caller holds the lock.
func (c *choices) afterPlan() (permissions.Mode, error) {
	if c.current.mode != permissions.ModePlan {
		return "", &tools.Error{Kind: tools.Unavailable, Message: errNoPlanMode.Error(), Err: errNoPlanMode}
	}
	if c.current.before == "" {
		return permissions.ModeCode, nil
	}
	return c.current.before, nil
}

// planModes is the mode as plan_exit sees and leaves it (tools.Modes).
type planModes struct {
	choices *choices
	// record puts an event into the transcript and shows it.
	record func(transcript.Event)
}

// AfterPlan implements tools.Modes.
func (m planModes) AfterPlan() (string, error) {
	m.choices.mu.Lock()
	after, err := m.choices.afterPlan()
	m.choices.mu.Unlock()
	if err != nil {
		return "", err
	}
	mode := m.choices.modeNamed(after)
	return fmt.Sprintf("%s (%s)", mode.Name, strings.TrimSuffix(mode.Description, ".")), nil
}

// LeavePlan implements tools.Modes.
func (m planModes) LeavePlan() (mode, statement string, err error) {
	m.choices.mu.Lock()
	after, err := m.choices.afterPlan()
	if err == nil {
		m.choices.changeMode(after)
	}
	m.choices.mu.Unlock()
	if err != nil {
		return "", "", err
	}
	m.choices.modeChanged()
	m.record(transcript.ModeChanged{ModeID: string(after)})
	return string(after), statementOf(after), nil
}
