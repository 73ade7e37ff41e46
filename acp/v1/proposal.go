package v1

import (
	"context"
	"fmt"
	"strings"

	"acp-agent/internal/textedit"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// proposalBytes bounds the differences that are said before a permission request.
const proposalBytes = 16 << 10

// propose says in the chat what a client does not show of a permission request, and what
// the user has to read before the answer: the text that a decision is about, such as a plan
// (R98), and the other files of a patch.
func (t *translator) propose(req tools.PermissionRequest) {
	var said []string
	if !t.client.requestText {
		said = t.text.unsaid(proposal(req))
	}
	if t.client.firstDiff {
		said = append(said, otherDiffs(req.Ready.Card.Content)...)
	}
	if len(said) == 0 {
		return
	}
	text := breadcrumb(req.Agents) + strings.Join(said, "\n\n") + "\n\n"
	t.own("", text)
}

// proposal are the texts that a decision is about. Of the other calls title and preview
// say what they do.
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

// otherDiffs are the changes of a request but the first, which is shown.
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
			said = append(said, fmt.Sprintf("It also changes %s; the difference is too long to be shown here.", span(diff.Path)))
			continue
		}
		said = append(said, fmt.Sprintf("It also changes %s:\n\n%s", span(diff.Path), kinds.Fence("diff", kinds.Visible(unified))))
	}
	if len(said) > 0 {
		said = append([]string{"The next question is about several files, of which the first is shown with it."}, said...)
	}
	return said
}

// saidBytes bounds what is remembered of what was said in a turn.
const saidBytes = 64 << 10

// note remembers text of the agent, to be found by unsaid.
func (s *stream) note(part openPart, text string) {
	if part.kind == transcript.TextKind && s.said.Len()+len(text) <= saidBytes {
		s.said.WriteString(text)
	}
}

// unsaid are the texts that do not stand, as they are but for blanks, in what was said in
// this turn.
func (s *stream) unsaid(texts []string) (left []string) {
	if len(texts) == 0 {
		return nil
	}
	said := folded(s.said.String())
	for _, text := range texts {
		if !strings.Contains(said, folded(text)) {
			left = append(left, text)
		}
	}
	return left
}

func folded(text string) string { return strings.Join(strings.Fields(text), " ") }
