package v1

import (
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// notice shows the user a notice. A client without notices gets a warning as a message,
// quoted, so that it cannot pass for the model's words. Such a client is sent no merely
// informative notice, which would stand in the conversation; /status shows it. A notice may
// quote a file or a server, so characters that cannot be seen are made visible.
func (o *outbox) notice(e transcript.Notice) {
	e.Title, e.Text = kinds.Visible(e.Title), kinds.Visible(e.Text)
	switch {
	case o.client.notices:
		o.send(noticeUpdate(e))
	case e.Severity != transcript.Info:
		o.message(quotation(e.Text))
	}
}

// quotation is a text as a quotation, which cannot pass for the model's words.
func quotation(text string) string {
	return "> " + strings.ReplaceAll(literalWithCode(strings.TrimSpace(text)), "\n", "\n> ") + "\n\n"
}

// say shows a text as a message of the agent, after the text before it.
func (t *translator) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.flushText()
	t.out.message(text)
}
