package session

import (
	"slices"

	"acp-agent/transcript"
)

// emitStartupNotices tells the user with the first prompt what of the configuration cannot be
// used. A client without notices shows nothing before a turn.
func (s *Session) emitStartupNotices() {
	notices := s.conversation.notices
	for _, notice := range slices.Concat(s.briefing.context.notices(), s.host.problems()) {
		notices.once(notice.Text, notice)
	}
	project, content := s.rules.project.notices()
	for _, notice := range project {
		notices.once(content+notice.Text, notice) // again when it is about another content
	}
	for _, notice := range slices.Concat(s.agents.notices(), s.custom.notices(), s.choices.startup) {
		notices.once(notice.Text, notice)
	}
}

// standing are the notices about the state of the session that hold now. /status lists them,
// because a client without notices shows the warnings once and the rest not at all.
func (s *Session) standing() []transcript.Notice {
	project, _ := s.rules.project.notices()
	return slices.Concat(s.briefing.context.notices(), s.host.problems(), project, s.agents.notices(), s.custom.notices())
}
