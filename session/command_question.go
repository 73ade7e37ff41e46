package session

import (
	"context"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// commandQuestion is a question that a slash command asks. The user sees it as a tool call; the model does
// not see it.
type commandQuestion struct {
	command string // without its slash
	card    kinds.Card
	choices tools.Choices
	// offers says that the card's content is an offer, which is removed when it is not accepted.
	offers bool
	// onAnswer acts on the answer, and returns the text and the state with which the card ends.
	onAnswer func(tools.Answer, error) (text string, state transcript.State)
}

// ask puts the question to the user, and returns the text with which the card ends. The card is stored,
// so that a loaded session shows what was asked and decided (R148).
func (p *performer) ask(ctx context.Context, q commandQuestion) (text string) {
	id := p.conversation.ids.New(transcript.CallPrefix)
	ready := transcript.ToolReady{CallID: id, Tool: q.command, Card: q.card}
	p.conversation.emit(transcript.ToolStarted{CallID: id, Name: q.command, Tool: q.command, Card: kinds.Neutral(q.command)})
	p.conversation.emit(ready)
	answer, err := p.question(ctx, tools.PermissionRequest{
		CallID: id, Name: q.command, Ready: ready, Reason: "you typed /" + q.command, Choices: &q.choices,
	})
	text, state := pipeline.CancelledText, transcript.Cancelled
	if ctx.Err() == nil {
		text, state = q.onAnswer(answer, err)
	}
	end := pipeline.Unrun(id, q.card, state, text)
	if state != transcript.Done {
		if q.offers {
			end.Card.Content = nil
		}
		end.Result.Error = &transcript.ErrorDetail{Kind: string(tools.Denied), DeniedBy: tools.DeniedByUser}
	}
	p.conversation.emit(end)
	p.conversation.noteQuestion(ready, end)
	return text
}

// noteQuestion puts the card of an answered question into the transcript; the client has it already.
func (c *conversation) noteQuestion(ready transcript.ToolReady, end transcript.ToolFinished) {
	call := &transcript.ToolPart{CallID: end.CallID, Name: ready.Tool, Tool: ready.Tool, State: end.State, Text: end.Text, Result: &end.Result}
	call.Ready(ready)
	call.Card = end.Card
	m := c.newMessage()
	m.Aside, m.Parts = true, []transcript.Part{call}
	c.note(transcript.AgentSaid{Message: m})
}
