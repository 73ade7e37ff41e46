package v1

import (
	"context"
	"fmt"
	"strings"

	"acp-agent/internal/textedit"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// proposalBytes bounds the diffs in the chat before a permission request.
const proposalBytes = 16 << 10

// propose writes into the chat what the client does not show of a permission request, and the
// user has to read before answering: the text that a decision is about, such as a plan (R98),
// and the other files of a patch.
func (t *translator) propose(req tools.PermissionRequest) {
	var said []string
	if !t.out.client.requestText {
		said = t.out.text.unsaid(proposal(req))
	}
	if t.out.client.firstDiff {
		said = append(said, otherDiffs(req.Ready.Card.Content)...)
	}
	if len(said) == 0 {
		return
	}
	t.out.message(breadcrumb(req.Agents) + strings.Join(said, "\n\n") + "\n\n")
}

// proposal are the texts that a decision is about. Other calls have none: their title and
// preview say what they do.
func proposal(req tools.PermissionRequest) (texts []string) {
	if req.Choices == nil && req.Ready.Card.Kind != kinds.SwitchMode {
		return nil
	}
	for _, content := range req.Ready.Card.Content {
		if text, ok := content.(kinds.Text); ok {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

// otherDiffs are the diffs of a request after the first, which the request shows.
func otherDiffs(content []kinds.Content) (said []string) {
	first, left := true, proposalBytes
	for _, c := range content {
		diff, ok := c.(kinds.Diff)
		if !ok {
			continue
		}
		if first {
			first = false
			continue
		}
		old := ""
		if diff.Old != nil {
			old = *diff.Old
		}
		unified := textedit.Unified(context.Background(), diff.Path, old, diff.New)
		if left -= len(unified); left < 0 {
			said = append(said, fmt.Sprintf("%s: the difference is too long to be shown here.", span(diff.Path)))
			continue
		}
		said = append(said, fmt.Sprintf("%s:\n\n%s", span(diff.Path), kinds.Fence("diff", kinds.Visible(unified))))
	}
	if len(said) > 0 {
		said = append([]string{"The next question is about several files and shows only the first. These are the others:"}, said...)
	}
	return said
}

// saidBytes bounds the text of a turn that is kept for unsaid.
const saidBytes = 64 << 10

// note keeps text of the agent for unsaid.
func (s *stream) note(text string) {
	if s.said.Len()+len(text) <= saidBytes {
		s.said.WriteString(text)
	}
}

// unsaid are the texts that the user has not read in this turn's text. A text counts as read
// if it stands there in paragraphs of its own, and nothing before it could make Markdown hide
// it, as a comment, the title of a link or an unused footnote would.
func (s *stream) unsaid(texts []string) (left []string) {
	if len(texts) == 0 {
		return nil
	}
	const blank = "\n\n"
	said := blank + folded(s.said.String()) + blank
	for _, text := range texts {
		before, _, found := strings.Cut(said, blank+folded(text)+blank)
		if !found || strings.Contains(before, "<") || strings.Contains(before, "[^") {
			left = append(left, text)
		}
	}
	return left
}

// folded normalises blanks, so that texts that look the same are equal.
func folded(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}
