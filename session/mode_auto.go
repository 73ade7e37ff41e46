package session

import (
	"fmt"
	"strings"

	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/transcript"
)

// autoMode is the mode auto; nothing where it is not offered. Before the trial of the sandbox has
// ended, the expected finding decides; without one, auto is offered, and its description says that
// the trial runs.
func (m *modes) autoMode() []Mode {
	mode := Mode{
		ID: string(permissions.ModeAuto), Name: "Auto",
		Description: "Works inside the project and its sandbox without asking; asks about each host, and about what reaches outside, publishes, touches secrets or cannot be taken back.",
	}
	report, expected := m.sandbox.Expected()
	switch {
	case !expected:
		mode.Description += " Whether this machine has a sandbox is still being found out."
	case m.noAuto(report) != "":
		return nil
	}
	return []Mode{mode}
}

// initial returns the mode that a session starts in, which is the configured one. Auto waits for the
// trial of the sandbox, as pending, unless the expected finding allows it; where there is no sandbox,
// startup has a notice.
func (m *modes) initial(configured permissions.Mode) permissions.Mode {
	switch configured {
	case "":
		return permissions.ModeAsk
	case permissions.ModeAuto:
		report, known := m.sandbox.Expected()
		if known && m.noAuto(report) == "" {
			return permissions.ModeAuto
		}
		if report, known = m.sandbox.Known(); known {
			m.startup = append(m.startup, autoNotice("The configured mode auto is not available", m.noAuto(report)))
		} else {
			m.pending = permissions.ModeAuto
		}
		return permissions.ModeAsk
	}
	return configured
}

// enforced is the mode whose rules are in force. The rules of auto are in force only after the trial
// of the sandbox, whatever was expected of it; until then those of ask are.
func (m *modes) enforced() permissions.Mode {
	mode := m.now()
	if mode != permissions.ModeAuto {
		return mode
	}
	if report, known := m.sandbox.Known(); known && m.noAuto(report) == "" {
		return mode
	}
	return permissions.ModeAsk
}

// explainAuto tells the user what the mode means, in the first session of the process that
// works in it.
func explainAuto() transcript.Notice {
	return transcript.Notice{
		Severity: transcript.Warning, Title: "Mode auto", // else many clients do not show it
		Text: "Commands and changes run without a question inside the project and its sandbox, and /undo takes changes back. " +
			"Hosts are asked about one by one, and so is what reaches outside, publishes, touches secrets or cannot be taken back.",
	}
}

// autoNotice tells the user that the mode auto cannot be had.
func autoNotice(what, why string) transcript.Notice {
	return transcript.Notice{
		Severity: transcript.Warning, Title: "Mode",
		Text: what + ": " + why + ". The session is in mode ask.",
	}
}

// noAuto says why there is no mode auto; "" when there is. In auto the user is asked about hosts and
// not about commands, so the sandbox must be able to keep commands from the network.
func (m *modes) noAuto(report sandbox.Report) string {
	switch {
	case !report.Confines():
		return noSandbox(report)
	case !report.Network:
		return fmt.Sprintf("the sandbox of this machine (%s) cannot keep commands from the network", report.Kind)
	case report.Kind == sandbox.Landlock && m.holdsOwn():
		return fmt.Sprintf("the session's directories hold your home or the agent's own files, and the sandbox of this machine (%s) cannot keep those from commands", report.Kind)
	}
	return ""
}

// holdsOwn reports whether the agent's own directories, or the user's home with its
// secrets, lie in a directory in which commands may write.
func (m *modes) holdsOwn() bool {
	for _, dir := range m.writable {
		for _, own := range m.own {
			if own != "" && sandbox.ContainsReal(dir, own) {
				return true
			}
		}
	}
	return false
}

// noSandbox says that nothing confines processes, and why.
func noSandbox(report sandbox.Report) string {
	text := "there is no sandbox on this machine"
	if len(report.Notes) > 0 {
		text += " (" + strings.TrimSuffix(strings.Join(report.Notes, " "), ".") + ")"
	}
	return text
}

// whyNot says why a mode is not offered; "" for any mode but auto.
func (m *modes) whyNot(mode string) string {
	if mode != string(permissions.ModeAuto) {
		return ""
	}
	report, _ := m.sandbox.Known()
	return m.noAuto(report)
}
