package v1

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// inChat is the text of questions in the chat (R77). The model writes them, so their Markdown
// is escaped. The blank line at the end separates the message from the text after it in
// clients that join messages.
func inChat(questions []tools.Question) string {
	var b strings.Builder
	for i, question := range questions {
		head := "**Question**"
		if len(questions) > 1 {
			head = fmt.Sprintf("**Question %d of %d**", i+1, len(questions))
		}
		if question.Header != "" {
			head += " (" + literal(kinds.Line(question.Header, titleRunes)) + ")"
		}
		b.WriteString(head + ": " + literal(prose(question.Question)) + "\n\n")
		for n, option := range question.Options {
			fmt.Fprintf(&b, "%d. %s", n+1, literal(kinds.Line(option.Label, titleRunes)))
			if option.Description != "" {
				b.WriteString(": " + literal(kinds.Line(option.Description, proseRunes)))
			}
			b.WriteString("\n")
		}
		switch {
		case question.MultiSelect:
			b.WriteString("\nSeveral may be chosen.\n\n")
		case len(question.Options) > 0:
			b.WriteString("\n")
		}
	}
	return b.String() + howToAnswer(questions) + "\n\n"
}

// howToAnswer says in one line how the user answers.
func howToAnswer(questions []tools.Question) string {
	text := "Write your answer as your next message"
	if len(questions) > 1 {
		text = "Write your answers as your next message"
	}
	if slices.ContainsFunc(questions, func(q tools.Question) bool { return len(q.Options) > 0 }) {
		text += ", by number or in your own words"
	}
	return text + "."
}
