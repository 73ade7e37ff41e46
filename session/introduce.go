package session

import (
	"slices"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// titleRunes bounds the title that is made of the first prompt.
const titleRunes = 80

// introduce does what only the first prompt of a session does: it names the
// session and says what of its surroundings cannot be used. Before a turn there
// is no place for that in a client without notices.
func (s *Session) introduce(prompt *transcript.Message) {
	s.mu.Lock()
	title := ""
	if !s.titled {
		title = titleOf(prompt, s.host.Keys.Known)
		s.titled = title != ""
	}
	s.mu.Unlock()
	if title != "" {
		s.emit(transcript.TitleChanged{Title: title, At: time.Now()})
	}
	for _, notice := range slices.Concat(s.told.notices(), s.host.problems()) {
		s.notices.once(notice.Text, notice)
	}
	project, content := s.project.notices()
	for _, notice := range project {
		s.notices.once(content+notice.Text, notice) // again when it is about another content
	}
	for _, notice := range slices.Concat(s.agentNotices(), s.choices.startup) {
		s.notices.once(notice.Text, notice)
	}
}

// standing are the notices about the state of the session that hold now. /status lists them,
// for a client without notices shows the warnings once and the rest not at all.
func (s *Session) standing() []transcript.Notice {
	project, _ := s.project.notices()
	return slices.Concat(s.told.notices(), s.host.problems(), project, s.agentNotices())
}

// titleOf takes the first line with text of a prompt, or the name of what it
// mentions. clean sees the whole of it before it is cut.
func titleOf(prompt *transcript.Message, clean func(string) string) string {
	for line := range strings.Lines(prompt.Typed()) {
		if title := kinds.Line(clean(line), titleRunes); title != "" {
			return title
		}
	}
	for _, part := range prompt.Parts {
		if link, ok := part.(*transcript.LinkPart); ok {
			return kinds.Line(clean(link.Name), titleRunes)
		}
	}
	return ""
}
