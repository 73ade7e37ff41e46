package session

import (
	"slices"

	"acp-agent/internal/record"
	"acp-agent/permissions"
	"acp-agent/transcript"
)

// startupNotices tell the user which parts of the configuration cannot be used.
type startupNotices struct {
	host    *Host
	context systemContext
	project *project
	agents  *agents
	custom  *customCommands
	modes   *modes
}

// emit emits each notice once. It is called in a turn, because a client without notices shows nothing
// outside of one.
func (n startupNotices) emit(notices *notices) {
	for _, notice := range slices.Concat(n.context.notices(), n.host.problems()) {
		notices.once(notice.Text, notice)
	}
	if n.modes.enforced() == permissions.ModeAuto && !n.host.autoExplained.Swap(true) {
		notices.once("mode auto", explainAuto())
	}
	project, content := n.project.notices()
	for _, notice := range project {
		notices.once(content+notice.Text, notice) // again when the content has changed
	}
	for _, notice := range slices.Concat(n.agents.notices(), n.custom.notices(), n.modes.startup) {
		notices.once(notice.Text, notice)
	}
}

// standing are the notices about the current state of the session. /status lists them, because a
// client without notices shows the warnings once and the rest not at all.
func (n startupNotices) standing() []transcript.Notice {
	project, _ := n.project.notices()
	return slices.Concat(n.context.notices(), n.host.problems(), project, n.agents.notices(), n.custom.notices())
}

// problems say which parts of the configuration could not be used. A turn asks twice, because the sources
// of tools, which start after its first notices, may find more.
func (h *Host) problems() []transcript.Notice {
	if h.Warnings == nil {
		return nil
	}
	var list []transcript.Notice
	for _, problem := range record.Value(h.Tape, "warnings", "", h.Warnings) {
		list = append(list, transcript.Notice{Severity: transcript.Warning, Title: "Configuration", Text: problem})
	}
	return list
}
