package v1

import (
	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

// compaction shows a compaction of the conversation (R139). A client that does not know them
// gets a notice, or a message, when one has changed what the model sees; a compaction that the
// user asked for is answered by its command.
func (o *outbox) compaction(e transcript.Event) {
	switch e := e.(type) {
	case transcript.CompactionStarted:
		if o.client.compactions {
			o.send(compactionUpdate(e.ID, schema.CompactionStatusInProgress))
		}
	case transcript.CompactionFailed:
		if o.client.compactions {
			update := compactionUpdate(e.ID, schema.CompactionStatusFailed)
			if e.Cancelled {
				update.Status = schema.CompactionStatusCancelled
			}
			update.Error = pointer(e.Reason)
			o.send(update)
		}
	case transcript.Compacted:
		switch c := e.Message.Compaction; {
		case o.client.compactions:
			update := compactionUpdate(e.Message.ID, schema.CompactionStatusCompleted)
			if text := e.Message.Text(); text != "" {
				update.Summary = schema.List[schema.ContentBlock]{schema.TextContent{Text: text}}
			}
			o.send(update)
		case c.Manual:
		case !o.client.notices: // it is a part of the conversation, also when that is loaded
			o.messageWithID(e.Message.ID, quotation(c.Sentence()))
		case !o.replaying:
			o.notice(compactionNotice(c))
		}
	}
}

func compactionUpdate(id string, status schema.CompactionStatus) schema.CompactionUpdate {
	return schema.CompactionUpdate{CompactionID: schema.CompactionId(id), Status: status}
}

// compactionNotice says what a compaction did.
func compactionNotice(c *transcript.Compaction) transcript.Notice {
	return transcript.Notice{Severity: transcript.Info, Title: "The conversation was compacted", Text: c.Sentence()}
}
