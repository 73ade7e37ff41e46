package session

import (
	"fmt"
	"slices"
	"time"

	"acp-agent/model"
	"acp-agent/transcript"
)

// imageWait is how long a turn with images waits for the server to say whether the model takes them.
const imageWait = 5 * time.Second

// checkImages tells the user when a prompt has images and the model is known to take none; the provider
// then replaces them in the request by a note. A model of which this is not known gets them, and its
// server refuses them if it does not take any.
func (p *promptReader) checkImages(t *Turn, backend Backend, id string) {
	isImage := func(part transcript.Part) bool { _, ok := part.(*transcript.ImagePart); return ok }
	if !slices.ContainsFunc(t.prompt.Parts, isImage) {
		return
	}
	if backend.Provider.Describe(t.ctx, id).Images == model.Unknown {
		wait := time.NewTimer(imageWait)
		defer wait.Stop()
		select {
		case <-p.models.learn(id).done:
		case <-wait.C:
		case <-t.ctx.Done():
		}
	}
	if backend.Provider.Describe(t.ctx, id).Images == model.No {
		p.conversation.emit(transcript.Notice{
			Severity: transcript.Warning, Title: "Image not sent",
			Text: fmt.Sprintf("%s takes no images, so those of this prompt did not reach it. Choose another model, or set model.images if that is wrong.", id),
		})
	}
}
