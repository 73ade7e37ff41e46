package compaction

import (
	"fmt"
	"strings"

	"acp-agent/internal/textcut"
	"acp-agent/transcript"
)

// How many bytes a record has of one text, of the arguments of one call, and of its result.
const (
	textBytes   = 4 << 10
	inputBytes  = 400
	resultBytes = 800
)

// recordOf is a conversation as text for the model that sums it up: what each side said, which tools were
// called, and the beginnings and ends of their results. If it is longer than limit, its middle is left
// out, which is furthest from the task and from the current work.
func recordOf(messages []*transcript.Message, limit int) string {
	var b strings.Builder
	for _, m := range messages {
		for _, part := range m.Parts {
			switch part := part.(type) {
			case *transcript.TextPart:
				appendText(&b, m, part)
			case *transcript.ResourcePart:
				fmt.Fprintf(&b, "User attached %s:\n%s\n", part.URI, middle(part.Text, resultBytes))
			case *transcript.LinkPart:
				fmt.Fprintf(&b, "User mentioned %s\n", part.URI)
			case *transcript.ImagePart:
				b.WriteString("User attached a picture.\n")
			case *transcript.ToolPart:
				fmt.Fprintf(&b, "Tool %s, %s: %s %s\n", part.Tool, part.State, part.Card.Title, middle(part.Input, inputBytes))
				if text := strings.TrimSpace(part.Text); text != "" {
					fmt.Fprintf(&b, "Its result:\n%s\n", middle(text, resultBytes))
				}
			}
		}
	}
	return middle(b.String(), limit)
}

func appendText(b *strings.Builder, m *transcript.Message, part *transcript.TextPart) {
	text := strings.TrimSpace(part.Text)
	speaker := "Agent"
	switch {
	case text == "" || part.Replaced:
		return
	case m.Compaction != nil:
		fmt.Fprintf(b, "What was before this was summed up already:\n%s\n", text)
		return
	case m.Synthetic:
		speaker = "Report to the agent"
	case m.Role == transcript.User && part.Synthetic: // a reminder, which is repeated after the compaction if it still holds
		return
	case m.Role == transcript.User:
		speaker = "User"
	}
	fmt.Fprintf(b, "%s: %s\n", speaker, middle(text, textBytes))
}

// middle is a text without its middle when it has more than limit bytes.
func middle(text string, limit int) string {
	const gap = "\n[…]\n"
	if len(text) <= limit {
		return text
	}
	half := max(0, limit-len(gap)) / 2
	return textcut.First(text, half) + gap + textcut.Last(text, half)
}
