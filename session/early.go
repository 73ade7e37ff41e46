package session

import (
	"slices"
	"time"

	"acp-agent/transcript"
)

// early is what the model is told of a prompt that was queued before its questions stood in
// the chat: it is not the answer (R75).
const early = "The user sent this message before your questions were in the chat. It does not answer them. " +
	"Do what it says if you can without the answers; the questions stay open for the user's next message."

// markEarly tells the model of a prompt that came before the questions it might be taken to
// answer. The first prompt that came after them is the answer.
func (s *Session) markEarly(prompt *transcript.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.askedAt.IsZero() {
		return
	}
	if !prompt.Created.Before(s.askedAt) {
		s.askedAt = time.Time{}
		return
	}
	prompt.Parts = append(slices.Clip(prompt.Parts), &transcript.TextPart{Text: early, Synthetic: true})
}
