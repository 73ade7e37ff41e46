package record

import (
	"encoding/json"
	"strings"

	"acp-agent/internal/redact"
)

// cleaner removes secrets from entries.
type cleaner struct{ clean func(string) string }

// hasNoSecret reports that no string of a JSON text has a secret. It looks at the text as a whole, once: in a text
// without escapes each string stands as it is, and a secret in the string is also one in the whole text, because
// a quote ends every form of secret. The result may be false although there is no secret.
func (c cleaner) hasNoSecret(text string) bool {
	return strings.IndexByte(text, '\\') < 0 && c.clean(text) == text
}

// eventLines cleans the lines of an event stream, which may have JSON in them. It cleans consecutive lines without
// escapes as one text, for the same reason as hasNoSecret.
func (c cleaner) eventLines(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for text != "" {
		plain := len(text)
		if escape := strings.IndexByte(text, '\\'); escape >= 0 {
			plain = strings.LastIndexByte(text[:escape], '\n') + 1
		}
		if run := text[:plain]; c.clean(run) == run {
			out.WriteString(run)
		} else {
			for line := range strings.Lines(run) {
				out.WriteString(c.eventLine(line))
			}
		}
		text = text[plain:]
		end := strings.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		out.WriteString(c.eventLine(text[:end]))
		text = text[end:]
	}
	return out.String()
}

// eventLine cleans one line of an event stream.
func (c cleaner) eventLine(line string) string {
	if from := strings.IndexByte(line, '{'); from >= 0 && json.Valid([]byte(line[from:])) {
		return c.clean(line[:from]) + string(redact.JSON([]byte(line[from:]), c.clean))
	}
	return c.clean(line)
}

// appendLine appends the line of an entry whose data has no secret, and removes those of its other texts.
func (c cleaner) appendLine(b []byte, e Entry) []byte {
	for _, text := range []*string{&e.Name, &e.Key, &e.Error} {
		if *text != "" {
			*text = c.clean(*text)
		}
	}
	return e.appendTo(b)
}
