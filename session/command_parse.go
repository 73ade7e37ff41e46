package session

import (
	"strings"
	"unicode"

	"acp-agent/transcript"
)

// commandTexts are the texts of a prompt that may be a command, the first to try first. After a cancel
// a client may send the cancelled text again, in a block before the new one. So the last block alone may
// be the command, if it is one line that starts with a slash; text after a mention does not.
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

// typed splits a text that starts like a slash command into its name and what was typed after it.
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
