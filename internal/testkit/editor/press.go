package editor

import "acp-agent/internal/testkit/acptest"

// User returns the user of an editor, for [acptest.PlayAs].
func User(e Editor) acptest.User {
	return acptest.User{Params: e.Params(), Press: func(lines []acptest.Line, kind string) acptest.Pressed {
		return press(e, lines, kind)
	}}
}

// press is what the editor sends for the last request when its user means an option of
// that kind.
func press(e Editor, lines []acptest.Line, kind string) acptest.Pressed {
	s := Show(e, lines)[lines[len(lines)-1].Message.Session()]
	q := s.Questions[len(s.Questions)-1]
	if q.Dropped {
		return acptest.Pressed{Cannot: "the editor dropped the request"}
	}
	for _, c := range q.Choices {
		if c.Presses.Kind == kind {
			return acptest.Pressed{OptionID: c.Sends.ID, Cancels: c.EndsTurn}
		}
	}
	return acptest.Pressed{Cannot: "the editor offers no " + kind}
}
