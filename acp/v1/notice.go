package v1

import (
	"strings"
	"unicode"

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
		quoted := "> " + strings.ReplaceAll(literal(strings.TrimSpace(e.Text)), "\n", "\n> ") + "\n\n"
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
	t.send(textUpdate(transcript.TextKind, id, text))
}

// said notes whether text of the main agent ends without a blank line.
func (t *translator) said(text string) { t.unbroken.Store(!strings.HasSuffix(text, "\n\n")) }

// literal keeps a text from being read as a link, a picture, HTML or emphasis: a notice may
// quote a file that nobody trusts (O3), and name files such as __init__.py. What stands
// between single backquotes is left as it is, if these are in pairs.
func literal(text string) string {
	spans := strings.Split(text, "`")
	if len(spans)%2 == 0 || strings.Contains(text, "``") {
		return strings.ReplaceAll(escaped(text), "`", "\\`")
	}
	for i := 0; i < len(spans); i += 2 {
		spans[i] = escaped(spans[i])
	}
	return strings.Join(spans, "`")
}

// escaped escapes what Markdown reads as more than text. Underscores within a word, as most
// are, are not emphasis.
func escaped(text string) string {
	var b strings.Builder
	runes := []rune(text)
	within := func(i, step int) bool { // a word goes on in this direction
		for i += step; i >= 0 && i < len(runes); i += step {
			if runes[i] != '_' {
				return unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i])
			}
		}
		return false
	}
	for i, r := range runes {
		if strings.ContainsRune(`\[<*`, r) || r == '_' && !(within(i, -1) && within(i, 1)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
