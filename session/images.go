package session

import (
	"fmt"

	"acp-agent/transcript"
)

// withoutImages replaces the pictures of a prompt by a line that says so, for a
// model that cannot see them: it must not pretend that it has (R159).
func (s *Session) withoutImages(prompt *transcript.Message, modelID string) {
	dropped := 0
	for i, part := range prompt.Parts {
		if _, ok := part.(*transcript.ImagePart); ok {
			dropped++
			prompt.Parts[i] = &transcript.TextPart{
				Text: "[The person attached an image that you cannot see.]", Synthetic: true,
			}
		}
	}
	if dropped > 0 {
		s.emit(transcript.Notice{
			Severity: transcript.Warning, Title: "Image not sent",
			Text: fmt.Sprintf("%s is not known to take images, so %d of them did not reach it. Choose another model, or set model.images.", modelID, dropped),
		})
	}
}
