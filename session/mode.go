package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Mode is a way of working that the user may pick.
type Mode struct {
	ID, Name, Description string
}

// modes are the modes of a session and which of them is current. Whether there is a mode auto depends on
// the sandbox (mode_auto.go); a choice of it may have to wait (mode_auto_choice.go). They are safe for
// concurrent use, and call nothing else with the lock held.
type modes struct {
	modeOptions
	// startup tells the user, with the first prompt, which configured mode is not available.
	startup []transcript.Notice
	// knownAtStart says that the trial of the sandbox had ended when the session started.
	knownAtStart bool

	mu      sync.Mutex // guards what follows
	current permissions.Mode
	// before is the mode that plan mode was entered from; empty when it was the first.
	before permissions.Mode
	// pending is the mode that the session changes to once there is a sandbox; "" when it waits
	// for none. byClient says that the client chose it, and not the configuration.
	pending  permissions.Mode
	byClient bool
}

// modeOptions are what modes are made of.
type modeOptions struct {
	life *lifetime
	// sandbox finds out how processes are confined, on which the mode auto depends.
	sandbox *sandbox.Probe
	// writable are the directories in which commands may write, own the directories that no command may
	// see: the agent's and the user's home.
	writable, own []string
	// emit passes an event on to the client.
	emit    func(transcript.Event)
	notices *notices
	// changed puts the rules of the current mode in force.
	changed func()
}

// newModes returns the modes of a session that starts in the configured one.
func newModes(o modeOptions, configured permissions.Mode) *modes {
	m := &modes{modeOptions: o}
	_, m.knownAtStart = o.sandbox.Known()
	m.current = m.initial(configured)
	return m
}

// get returns the current mode, and the one that plan mode was entered from.
func (m *modes) get() (current, before permissions.Mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current, m.before
}

// now is the current mode.
func (m *modes) now() permissions.Mode {
	now, _ := m.get()
	return now
}

// wanted is the mode that was chosen last, even if it still waits for the sandbox.
func (m *modes) wanted() permissions.Mode {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cmp.Or(m.pending, m.current)
}

// restore sets, in a resumed session, the mode that plan mode was entered from.
func (m *modes) restore(before permissions.Mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = before
}

// option is the option of the mode.
func (m *modes) option() Option {
	o := Option{ID: ModeOption, Name: "Mode", Category: "mode", Current: string(m.now()), Description: "How much the agent may do without asking."}
	for _, mode := range m.list() {
		o.Values = append(o.Values, Value{ID: mode.ID, Name: mode.Name, Description: mode.Description})
	}
	return o
}

// list lists the modes that the session offers (R157). Auto is the first where the sandbox allows it,
// and the last while the sandbox is not known: it cannot be left out, because the list cannot be sent
// again to a client without config options.
func (m *modes) list() []Mode {
	list := []Mode{
		{ID: string(permissions.ModeAsk), Name: "Ask", Description: "Asks before every change and every command that is not read-only."},
		{ID: string(permissions.ModeCode), Name: "Code", Description: "Edits files inside the project without asking; commands are still judged."},
		{ID: string(permissions.ModePlan), Name: "Plan", Description: "Changes nothing: reads, and writes down a plan."},
	}
	if _, known := m.sandbox.Expected(); known {
		return append(m.autoMode(), list...)
	}
	return append(list, m.autoMode()...)
}

// named returns the mode with an id.
func (m *modes) named(id permissions.Mode) Mode {
	list := m.list()
	i := slices.IndexFunc(list, func(mode Mode) bool { return mode.ID == string(id) })
	if i < 0 {
		return Mode{ID: string(id), Name: string(id)}
	}
	return list[i]
}

// switchTo makes a mode the current one.
func (m *modes) switchTo(mode permissions.Mode) {
	m.mu.Lock()
	m.setLocked(mode)
	m.mu.Unlock()
	m.changed()
}

// setLocked sets the current mode; mu is held. The caller calls changed after it has released mu. When two
// changes meet, both calls apply the later mode.
func (m *modes) setLocked(mode permissions.Mode) {
	if mode == permissions.ModePlan && m.current != mode {
		m.before = m.current
	}
	m.current, m.pending, m.byClient = mode, "", false
}

var errNoPlanMode = errors.New("the session is not in plan mode")

// afterPlan is the mode that leaving plan mode leads to: the one that it was
// entered from, or code. The caller holds the lock.
func (m *modes) afterPlan() (permissions.Mode, error) {
	if m.current != permissions.ModePlan {
		return "", &tools.Error{Kind: tools.Unavailable, Message: errNoPlanMode.Error(), Err: errNoPlanMode}
	}
	if m.before == "" {
		return permissions.ModeCode, nil
	}
	return m.before, nil
}

// planModes lets the tool plan_exit leave plan mode (tools.Modes).
type planModes struct {
	modes *modes
	// record puts an event into the transcript and shows it.
	record func(transcript.Event)
}

// AfterPlan implements tools.Modes.
func (m planModes) AfterPlan() (string, error) {
	m.modes.mu.Lock()
	after, err := m.modes.afterPlan()
	m.modes.mu.Unlock()
	if err != nil {
		return "", err
	}
	mode := m.modes.named(after)
	return fmt.Sprintf("%s (%s)", mode.Name, strings.TrimSuffix(mode.Description, ".")), nil
}

// LeavePlan implements tools.Modes.
func (m planModes) LeavePlan() (mode, notice string, err error) {
	m.modes.mu.Lock()
	after, err := m.modes.afterPlan()
	if err == nil {
		m.modes.setLocked(after)
	}
	m.modes.mu.Unlock()
	if err != nil {
		return "", "", err
	}
	m.modes.changed()
	m.record(transcript.ModeChanged{ModeID: string(after)})
	return string(after), statementOf(after), nil
}
