package v1

import (
	"strings"

	"acp-agent/transcript"
)

// notice tells the user something. A client without notices gets a warning as a message of
// its own, quoted, so that it cannot be taken for the model's words. What is merely
// informative is left out there, for it would stand in the conversation; /status has it.
func (t *translator) notice(e transcript.Notice) {
	switch {
	case t.client.notices:
		t.send(noticeUpdate(e))
	case e.Severity != transcript.Info:
		quoted := "> " + strings.ReplaceAll(literalWithCode(strings.TrimSpace(e.Text)), "\n", "\n> ") + "\n\n"
		t.own(t.ids.New(transcript.MessagePrefix), quoted)
	}
}

// own sends a message that is whole, such as a notice. Many clients put the text of all
// messages together, so a blank line keeps it apart from the text before.
func (t *translator) own(id, text string) {
	if t.unbroken.Load() {
		text = "\n\n" + text
	}
	t.said(text)
	t.apart = true
	t.send(textUpdate(transcript.TextKind, id, text))
}

// said notes whether text of the main agent ends without a blank line.
func (t *translator) said(text string) {
	t.unbroken.Store(!strings.HasSuffix(text, "\n\n"))
	t.apart = false
}
