package compaction

import (
	"slices"

	"acp-agent/transcript"
)

// The messages that a summary leaves as they are (R139): the last two turns, in at most a
// quarter of the window.
const (
	tailTurns = 2
	tailShare = 4
)

// split parts a conversation into the messages that a summary replaces and the messages
// that are kept as they are. What the model has not answered is always kept, with the prompt that it
// works on unless that is large; and where the budget, in tokens, has room, the last turns, or
// of a long turn the last steps.
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

// smallPrompt is a prompt, in tokens, that is kept whatever the budget.
const smallPrompt = 200

// unanswered is the first of the last messages that the model has not answered: its own
// calls, whose results it has not read, or what it was told since its last answer.
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

// lastPrompt is the last message of the user; -1 when there is none.
func lastPrompt(messages []*transcript.Message) int {
	for i, m := range slices.Backward(messages) {
		if isPrompt(m) {
			return i
		}
	}
	return -1
}

// isPrompt reports whether the user said something in a message.
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
