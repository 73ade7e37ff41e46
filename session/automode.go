package session

import (
	"fmt"
	"strings"

	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/transcript"
)

// autoMode is the mode auto if it is offered: by the finding of this process, before
// that by the one that is expected, and where nothing is known with a description that
// says so.
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

// first is the mode that a session begins in: the configured one, but that auto waits
// until it is known whether there is a sandbox, unless one is expected.
func (m *modes) first(configured permissions.Mode) permissions.Mode {
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

// enforced is the mode whose rules are in force: those of auto only while it is known that
// processes are confined, whatever was expected.
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

// noAuto says why there is no mode auto; empty when there is. What reaches the network
// is asked about in it, so the sandbox must be able to keep what is not asked from it.
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

// noSandbox says that, and why, nothing confines processes.
func noSandbox(report sandbox.Report) string {
	text := "there is no sandbox on this machine"
	if len(report.Notes) > 0 {
		text += " (" + strings.TrimSuffix(strings.Join(report.Notes, " "), ".") + ")"
	}
	return text
}

// whyNot says why a mode that exists is not offered; "" of any but auto.
func (m *modes) whyNot(mode string) string {
	if mode != string(permissions.ModeAuto) {
		return ""
	}
	report, _ := m.sandbox.Known()
	return m.noAuto(report)
}
