package v1

import (
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// notice tells the user something. A client without notices gets a warning as a message of
// its own, quoted, so that it cannot be taken for the model's words. What is merely
// informative is left out there, for it would stand in the conversation; /status has it. What a
// notice quotes may be of a file or a server that no one has vouched for (O2).
func (t *translator) notice(e transcript.Notice) {
	e.Title, e.Text = kinds.Visible(e.Title), kinds.Visible(e.Text)
	switch {
	case t.client.notices:
		t.send(noticeUpdate(e))
	case e.Severity != transcript.Info:
		quoted := "> " + strings.ReplaceAll(literalWithCode(strings.TrimSpace(e.Text)), "\n", "\n> ") + "\n\n"
		t.message(t.ids.New(transcript.MessagePrefix), quoted)
	}
}

// say shows a text in the agent's name as a message of its own, after the text before it.
func (t *translator) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flushText()
	t.message(t.ids.New(transcript.MessagePrefix), text)
}

// message sends a whole message, such as a notice. Many clients put the text of all
// messages together, so a blank line keeps it apart from the text before.
func (t *translator) message(id, text string) {
	if t.unbroken.Load() {
		text = "\n\n" + text
	}
	t.noteBreak(text)
	t.apart = true
	t.send(textUpdate(transcript.TextKind, id, text))
}

// noteBreak notes whether the text of the main agent ends with a blank line.
func (t *translator) noteBreak(text string) {
	t.unbroken.Store(!strings.HasSuffix(text, "\n\n"))
	t.apart = false
}
