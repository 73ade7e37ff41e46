package v1

import (
	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

// replay shows a message of a stored conversation as it was shown when it was said. The user's
// own words, which a client shows itself in a live turn, are sent too.
func (t *translator) replay(m *transcript.Message) {
	if m.Role != transcript.User {
		transcript.Unfold(m, t.Emit)
		return
	}
	blocks := shownBlocks(m)
	if len(blocks) == 0 {
		return // only the model was told of it
	}
	t.Emit(transcript.TurnFinished{})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.openLine.Store(false)
	for _, block := range blocks {
		t.out.send(schema.UserMessageChunk{Content: block, MessageID: schema.MessageId(m.ID)})
	}
	t.emit(transcript.TurnStarted{MessageID: m.ID})
}

// startReplay makes what is emitted the replay of a conversation: a client takes updates of all
// kinds while its request is not answered.
func (t *translator) startReplay() {
	t.promptReceived()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.replaying = true
}

// endReplay is called before the answer to the request is sent.
func (t *translator) endReplay() {
	t.Emit(transcript.TurnFinished{})
	t.mu.Lock()
	t.out.replaying = false
	t.mu.Unlock()
	t.promptAnswered()
}

// shownBlocks are the parts of a prompt that its user sees, as the client sent them.
func shownBlocks(m *transcript.Message) []schema.ContentBlock {
	var blocks []schema.ContentBlock
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			if !part.Synthetic {
				blocks = append(blocks, schema.TextContent{Text: part.Text})
			}
		case *transcript.ImagePart:
			if !part.Synthetic {
				blocks = append(blocks, schema.ImageContent{MimeType: part.MediaType, Data: part.Data, URI: part.URI})
			}
		case *transcript.LinkPart:
			link := schema.ResourceLink{URI: part.URI, Name: part.Name, Title: part.Title, Description: part.Description, MimeType: part.MediaType}
			if part.Size > 0 {
				link.Size = pointer(part.Size)
			}
			blocks = append(blocks, link)
		case *transcript.ResourcePart:
			blocks = append(blocks, schema.EmbeddedResource{Resource: schema.TextResourceContents{URI: part.URI, Text: part.Text, MimeType: part.MediaType}})
		}
	}
	return blocks
}
