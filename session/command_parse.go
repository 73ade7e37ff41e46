package session

import (
	"strings"
	"unicode"

	"acp-agent/transcript"
)

// commandTexts are the texts of a prompt that may be a command. After a cancel a client may
// send the text that was cancelled again, before the new one, in a block of its own: then
// the last block of text alone is the command, when that is one line which begins with the
// slash. Text that goes on after a mention does not begin so.
func commandTexts(prompt *transcript.Message) []string {
	var blocks []string
	for _, part := range prompt.Parts {
		if text, ok := part.(*transcript.TextPart); ok {
			blocks = append(blocks, text.Text)
		}
	}
	whole := strings.Join(blocks, "")
	if len(blocks) < 2 {
		return []string{whole}
	}
	last := blocks[len(blocks)-1]
	if !strings.HasPrefix(last, "/") || strings.Contains(strings.TrimSpace(last), "\n") {
		return []string{whole}
	}
	return []string{last, whole}
}

// typed takes a text apart that begins like a slash command: the name, and what was typed
// after it.
func typed(text string) (name, rest string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	return text[1:end], strings.TrimSpace(text[end:]), true
}
