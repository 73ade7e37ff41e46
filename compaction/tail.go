package compaction

import (
	"slices"

	"acp-agent/transcript"
)

// The messages that a summary does not replace (R139): at most the last two turns, in at most a quarter
// of the window.
const (
	tailTurns = 2
	tailShare = 4
)

// split divides a conversation into head, which a summary replaces, and tail, which is kept. The tail
// has what the model has not answered yet, and the prompt on which it works unless that is large. As far
// as the budget goes, in tokens, it also has the last turns, or the last steps of a long turn.
func split(messages []*transcript.Message, budget int) (head, tail []*transcript.Message) {
	from, prompt := unanswered(messages), lastPrompt(messages)
	open := from < len(messages)
	budget -= ofAll(messages[from:])
	turns, kept := 0, -1
	switch {
	case prompt >= from:
		turns++
	case open && prompt >= 0 && ofMessage(messages[prompt]) <= max(smallPrompt, budget/2):
		kept = prompt
		budget -= ofMessage(messages[prompt])
	}
	for i := from - 1; i >= 0 && turns < tailTurns && messages[i].Compaction == nil; i-- {
		if i != kept {
			budget -= ofMessage(messages[i])
		}
		if budget < 0 {
			break
		}
		from = i
		if isPrompt(messages[i]) {
			turns++
		}
	}
	for i, m := range messages {
		if i >= from || i == kept || !m.Finished {
			tail = append(tail, m)
		} else {
			head = append(head, m)
		}
	}
	return head, tail
}

// smallPrompt is the size, in tokens, up to which a prompt is kept whatever the budget.
const smallPrompt = 200

// unanswered is the index of the first message that the model has not answered: its own calls, whose
// results it has not read, or what was added since its last answer.
func unanswered(messages []*transcript.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == transcript.Assistant && !m.Synthetic {
			if len(m.Calls()) > 0 {
				return i
			}
			return i + 1
		}
	}
	return 0
}

// lastPrompt is the index of the last message of the user; -1 when there is none.
func lastPrompt(messages []*transcript.Message) int {
	for i, m := range slices.Backward(messages) {
		if isPrompt(m) {
			return i
		}
	}
	return -1
}

// isPrompt reports whether a message has a part of the user's.
func isPrompt(m *transcript.Message) bool {
	return m.Role == transcript.User && slices.ContainsFunc(m.Parts, func(part transcript.Part) bool {
		text, isText := part.(*transcript.TextPart)
		return !isText || !text.Synthetic
	})
}

func ids(messages []*transcript.Message) []string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = m.ID
	}
	return list
}
