package store

import (
	"encoding/json"
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// around is the surroundings of a word in a text, on one line.
func around(text string, at, size int) string {
	const side = 80
	from, to := max(0, at-side), min(len(text), at+size+side)
	cut := strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "")), " ")
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(text) {
		cut += "…"
	}
	return cut
}

// textsOf are the texts of a part that the user may have read or written.
func textsOf(part transcript.Part) []string {
	switch p := part.(type) {
	case *transcript.TextPart:
		return []string{p.Text}
	case *transcript.ReasoningPart:
		return []string{p.Text}
	case *transcript.LinkPart:
		return []string{p.Name, p.Title, p.Description, p.URI}
	case *transcript.ResourcePart:
		return []string{p.URI, p.Text}
	case *transcript.ToolPart:
		texts := []string{p.Card.Title, p.Text, p.Shown, p.Printed, plainInput(p.Input)}
		for _, content := range p.Card.Content {
			switch c := content.(type) {
			case kinds.Text:
				texts = append(texts, c.Text)
			case kinds.Diff:
				texts = append(texts, c.Path, c.New)
				if c.Old != nil {
					texts = append(texts, *c.Old)
				}
			}
		}
		return texts
	}
	return nil
}

// plainInput is the text of arguments with the escapes in their strings decoded.
func plainInput(input string) string {
	var value any
	if !strings.ContainsRune(input, '\\') || json.Unmarshal([]byte(input), &value) != nil {
		return input
	}
	var b strings.Builder
	appendStrings(&b, value)
	return b.String()
}

func appendStrings(b *strings.Builder, value any) {
	switch v := value.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	case []any:
		for _, element := range v {
			appendStrings(b, element)
		}
	case map[string]any:
		for _, member := range v {
			appendStrings(b, member)
		}
	}
}
