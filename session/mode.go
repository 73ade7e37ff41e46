package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"acp-agent/permissions"
	"acp-agent/transcript"
)

// Mode is a way of working that the person may pick.
type Mode struct {
	ID, Name, Description string
}

// Modes lists the modes that the session offers (R157). Auto is the last of them, where
// processes are confined and kept from the network, or where that is still being found
// out: the list cannot be sent again to a client that knows no options.
func (s *Session) Modes() []Mode {
	modes := []Mode{
		{ID: string(permissions.ModeAsk), Name: "Ask", Description: "Asks before every change and every command that is not read-only."},
		{ID: string(permissions.ModeCode), Name: "Code", Description: "Edits files inside the project without asking; commands are still judged."},
		{ID: string(permissions.ModePlan), Name: "Plan", Description: "Changes nothing: reads, and writes down a plan."},
	}
	return append(modes, s.autoMode()...)
}

// Mode returns the current mode's id.
func (s *Session) Mode() string { return string(s.chosen().mode) }

// modeNamed describes a mode.
func (s *Session) modeNamed(id permissions.Mode) Mode {
	modes := s.Modes()
	i := slices.IndexFunc(modes, func(m Mode) bool { return m.ID == string(id) })
	if i < 0 {
		return Mode{ID: string(id), Name: string(id)}
	}
	return modes[i]
}

// SetMode changes the mode: questions follow from the next tool call on, tools
// from the next model request on, and a running turn goes on.
func (s *Session) SetMode(id string) error {
	return s.SetOption(ModeOption, id)
}

// switchMode makes a mode the current one.
func (s *Session) switchMode(to permissions.Mode) {
	s.mu.Lock()
	s.changeMode(to)
	s.mu.Unlock()
	s.applyMode()
}

// changeMode notes the mode, under s.mu. The caller then puts its rules in force with
// applyMode, without the lock; of two changes in a row both apply the later one.
func (s *Session) changeMode(to permissions.Mode) {
	if to == permissions.ModePlan && s.choice.mode != to {
		s.choice.before = s.choice.mode
	}
	s.choice.mode, s.wanted, s.chose = to, "", false
}

// unconfined says why no command may run where nobody is asked: nothing confines it,
// and the person has not chosen that (R124).
func (s *Session) unconfined(ctx context.Context) string {
	if s.spec.Unsandboxed {
		return ""
	}
	report, err := s.host.Sandbox.Wait(ctx)
	if err != nil || report.Confines() {
		return ""
	}
	return "this command is allowed, but nothing would confine it and nobody is here to see it: " + noSandbox(report) +
		"; whoever starts the agent has to say that commands may run so (--unsandboxed)"
}

// sessionModes is the mode as plan_exit may see and leave it (tools.Modes).
type sessionModes struct{ *Session }

// AfterPlan implements tools.Modes.
func (m sessionModes) AfterPlan() (string, error) {
	m.mu.Lock()
	after, err := m.afterPlan()
	m.mu.Unlock()
	if err != nil {
		return "", err
	}
	mode := m.modeNamed(after)
	return fmt.Sprintf("%s (%s)", mode.Name, strings.TrimSuffix(mode.Description, ".")), nil
}

// LeavePlan implements tools.Modes.
func (m sessionModes) LeavePlan() (mode, told string, err error) {
	m.mu.Lock()
	after, err := m.afterPlan()
	if err == nil {
		m.changeMode(after)
	}
	m.mu.Unlock()
	if err != nil {
		return "", "", err
	}
	m.applyMode()
	m.record(transcript.ModeChanged{ModeID: string(after)})
	return string(after), statementOf(after), nil
}
