package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/transcript"
)

// Mode is a way of working that the person may pick.
type Mode struct {
	ID, Name, Description string
}

// Modes lists the modes that the session offers (R157). Auto is among them when
// it is known that processes are confined, and from the network too.
func (s *Session) Modes() []Mode {
	modes := []Mode{
		{ID: string(permissions.ModeAsk), Name: "Ask", Description: "Asks before every change and every command that is not read-only."},
		{ID: string(permissions.ModeCode), Name: "Code", Description: "Edits files inside the project without asking; commands are still judged."},
		{ID: string(permissions.ModePlan), Name: "Plan", Description: "Changes nothing: reads, and writes down a plan."},
	}
	if report, known := s.host.Sandbox.Known(); known && s.noAuto(report) == "" {
		modes = append(modes, Mode{
			ID: string(permissions.ModeAuto), Name: "Auto",
			Description: "Works inside the project and its sandbox without asking; still asks about the network, places outside, secrets, and files that make programs run.",
		})
	}
	return modes
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
	s.choice.mode, s.wanted = to, ""
}

// firstMode is the mode that a session begins in: the configured one, but that
// auto waits until it is known whether there is a sandbox.
func (s *Session) firstMode(configured permissions.Mode) permissions.Mode {
	switch configured {
	case "":
		return permissions.ModeAsk
	case permissions.ModeAuto:
		report, known := s.host.Sandbox.Known()
		switch {
		case !known:
			s.wanted = permissions.ModeAuto
		case s.noAuto(report) == "":
			return permissions.ModeAuto
		default:
			s.waiting = append(s.waiting, s.autoNotice(report))
		}
		return permissions.ModeAsk
	}
	return configured
}

// autoNotice tells the person that their mode cannot be had.
func (s *Session) autoNotice(report sandbox.Report) transcript.Notice {
	return transcript.Notice{
		Severity: transcript.Warning, Title: "Mode",
		Text: "The configured mode auto is not available: " + s.noAuto(report) + ". The session is in mode ask.",
	}
}

// noAuto says why there is no mode auto; empty when there is. What reaches the network
// is asked about in it, so the sandbox must be able to keep what is not asked from it.
func (s *Session) noAuto(report sandbox.Report) string {
	switch {
	case !report.Confines():
		return noSandbox(report)
	case !report.Network:
		return fmt.Sprintf("the sandbox of this machine (%s) cannot keep commands from the network", report.Kind)
	case report.Kind == sandbox.Landlock && s.holdsOwn():
		return fmt.Sprintf("the session's directories hold your home or the agent's own files, and the sandbox of this machine (%s) cannot keep those from commands", report.Kind)
	}
	return ""
}

// holdsOwn reports whether the agent's own directories, or the person's home with its
// secrets, lie in a directory in which commands may write.
func (s *Session) holdsOwn() bool {
	for _, dir := range slices.Concat([]string{s.spec.Cwd}, s.spec.Additional, s.settings.WriteRoots) {
		for _, own := range slices.Concat(s.host.Own, []string{s.host.Home}) {
			if own != "" && sandbox.Within(own, dir) {
				return true
			}
		}
	}
	return false
}

// noSandbox says that, and why, nothing confines processes.
func noSandbox(report sandbox.Report) string {
	text := "there is no sandbox on this machine"
	if len(report.Notes) > 0 {
		text += " (" + strings.TrimSuffix(strings.Join(report.Notes, " "), ".") + ")"
	}
	return text
}

// whyNot says why a value that exists is not offered.
func (s *Session) whyNot(option, value string) string {
	if option != ModeOption || value != string(permissions.ModeAuto) {
		return ""
	}
	report, known := s.host.Sandbox.Known()
	if !known {
		return "it is still being found out whether this machine has a sandbox"
	}
	return s.noAuto(report)
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

// Settle waits until it is known how processes are confined, and with it which
// modes there are and whether a session whose configured mode is auto begins in
// it. Its error is that of ctx.
func (s *Session) Settle(ctx context.Context) error {
	report, err := s.host.Sandbox.Wait(ctx)
	if err == nil {
		s.settleMode(report)
	}
	return err
}

// Unsettled reports whether the mode that the session begins in is not known before
// Settle.
func (s *Session) Unsettled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted != ""
}

// settleMode heeds what was found out about a sandbox: it makes auto the mode of a
// session that is to begin in it, unless the person has chosen another meanwhile,
// or says that it cannot be had. It reports whether the mode was changed.
func (s *Session) settleMode(report sandbox.Report) bool {
	s.mu.Lock()
	wanted := s.wanted
	s.wanted = ""
	change := wanted != "" && s.noAuto(report) == ""
	if change {
		s.changeMode(wanted)
	}
	s.mu.Unlock()
	if change {
		s.applyMode()
	}
	if wanted == "" || change {
		return change
	}
	notice := s.autoNotice(report)
	s.sayInTurn(notice.Text, notice)
	return false
}

// awaitSandbox announces what is found out about a sandbox after the session was
// opened, and the mode auto with it.
func (s *Session) awaitSandbox() {
	if s.found {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.running.Go(func() {
		report, err := s.host.Sandbox.Wait(s.ctx)
		if err != nil {
			return
		}
		s.spec.Sink.Emit(transcript.SandboxFound{})
		switch {
		case s.settleMode(report):
			s.spec.Sink.Emit(transcript.ModeChanged{ModeID: s.Mode()})
		case s.noAuto(report) == "":
			s.spec.Sink.Emit(transcript.OptionsChanged{})
		}
	})
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

// awaitMode keeps the first turn of a session that is to begin in auto until it is
// known whether it can.
func (s *Session) awaitMode(ctx context.Context) {
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	if wanted == "" {
		return
	}
	report, err := s.host.Sandbox.Wait(ctx)
	if err == nil && s.settleMode(report) {
		s.emit(transcript.ModeChanged{ModeID: s.Mode()})
	}
}
