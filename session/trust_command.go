package session

import (
	"context"
	"fmt"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// trustCommand is /trust.
func (s *Session) trustCommand(ctx context.Context, words []string) string {
	switch {
	case len(words) == 1 && words[0] == "off":
		had, err := s.rules.project.distrust()
		switch {
		case err != nil:
			return "The trust could not be taken back: " + err.Error()
		case !had:
			return "This project was not trusted."
		}
		return "This project is not trusted any more."
	case len(words) > 0:
		return "Usage: `/trust` shows what trust in this project allows and asks you; `/trust off` takes it back."
	}
	offer, err := s.rules.project.trustOffer()
	switch {
	case err != nil:
		return kinds.Visible(err.Error())
	case offer.Trusted:
		return fmt.Sprintf("You trust this project since %s. `/trust off` takes that back.\n\n%s", offer.Since.Format(time.RFC3339), offer.held())
	case s.spec.Asker == nil:
		return "There is no one here to ask. Run `acp-agent trust` in a terminal."
	}
	return s.askTrust(ctx, offer)
}

// askTrust puts the offer to the user, as a call of its own that no model sees.
func (s *Session) askTrust(ctx context.Context, offer TrustOffer) string {
	id := s.host.IDs.New(transcript.CallPrefix)
	card := kinds.Card{Kind: kinds.Other, Title: "Trust this project", Content: []kinds.Content{kinds.Text{Text: offer.Text()}}}
	ready := transcript.ToolReady{CallID: id, Tool: trustName, Card: card}
	s.conversation.emit(transcript.ToolStarted{CallID: id, Name: trustName, Tool: trustName, Card: kinds.Neutral(trustName)})
	s.conversation.emit(ready)
	answer, err := s.spec.Asker.Ask(ctx, tools.PermissionRequest{
		CallID: id, Name: trustName, Ready: ready, Reason: "you typed /trust",
		Choices: &tools.Choices{Question: offer.question(), Allow: "Trust this project", Reject: "Do not trust it"},
	})
	text, state := "This project is not trusted.", transcript.Rejected
	switch {
	case ctx.Err() != nil:
		text, state = pipeline.CancelledText, transcript.Cancelled
	case err != nil:
		text = "The editor could not ask you, so this project is not trusted. Run `acp-agent trust` in a terminal."
	case answer == tools.AllowOnce:
		if err := s.rules.project.trust(offer); err != nil {
			text = "This project is not trusted: " + kinds.Visible(err.Error())
			break
		}
		text, state = "This project is trusted as it is now. `/trust off` takes that back.", transcript.Done
	}
	end := pipeline.Unrun(id, kinds.Neutral(trustName), state, text)
	end.Card = card
	if state == transcript.Done {
		end.Result = transcript.Envelope{Type: transcript.Output}
	} else {
		end.Card.Content = nil // what was offered does not hold
		end.Result.Error = &transcript.ErrorDetail{Kind: string(tools.Denied), DeniedBy: tools.DeniedByUser}
	}
	s.conversation.emit(end)
	return text
}

// trustName is the name of the call that /trust shows.
const trustName = "trust"
