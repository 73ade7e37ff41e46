package model

import (
	"strings"

	"acp-agent/transcript"
)

// NoteLabel begins what stands for a synthetic message in a request.
const NoteLabel = "[Note from the agent, not from the user]"

// Note is the text that a provider sends, in the role of the user, for a synthetic
// message: the model did not say it, and two answers in a row are refused by some servers
// (R68). It is "" for a message that says nothing.
func Note(m *transcript.Message) string {
	text := m.Text()
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return NoteLabel + "\n" + text
}
