package record

import (
	"encoding/json"
	"strings"

	"acp-agent/internal/redact"
)

// cleaner takes secrets out of entries.
type cleaner struct{ clean func(string) string }

// holdsNone reports that no string of a JSON text holds a secret. It looks at the text as a whole, once:
// without an escape each string stands in it as it is, and what is a secret in a string is one in a text
// around it, because a quote ends every form of secret. So the answer can be a false no.
func (c cleaner) holdsNone(text string) bool {
	return strings.IndexByte(text, '\\') < 0 && c.clean(text) == text
}

// eventLines cleans the lines of an event stream, which may have JSON in them. It looks at lines without an
// escape together, see holdsNone.
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

func (c cleaner) eventLine(line string) string {
	if from := strings.IndexByte(line, '{'); from >= 0 && json.Valid([]byte(line[from:])) {
		return c.clean(line[:from]) + string(redact.JSON([]byte(line[from:]), c.clean))
	}
	return c.clean(line)
}

// appendNamed appends the line of an entry whose data is clean.
func (c cleaner) appendNamed(b []byte, e Entry) []byte {
	for _, text := range []*string{&e.Name, &e.Key, &e.Error} {
		if *text != "" {
			*text = c.clean(*text)
		}
	}
	return e.appendTo(b)
}
