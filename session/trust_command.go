package session

import (
	"context"
	"fmt"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// trustCommand is /trust.
func trustCommand(ctx context.Context, p *project, performer *performer, words []string) string {
	switch {
	case len(words) == 1 && words[0] == "off":
		had, err := p.distrust()
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
	offer, err := p.trustOffer()
	switch {
	case err != nil:
		return kinds.Visible(err.Error())
	case offer.Trusted:
		return fmt.Sprintf("You trust this project since %s. `/trust off` takes that back.\n\n%s", offer.Since.Format(time.RFC3339), offer.held())
	case performer.asker == nil:
		return "There is no one here to ask. Run `acp-agent trust` in a terminal."
	}
	return askTrust(ctx, p, performer, offer)
}

// askTrust puts the offer to the user.
func askTrust(ctx context.Context, p *project, performer *performer, offer TrustOffer) string {
	return performer.ask(ctx, commandQuestion{
		command: "trust", offers: true,
		card:    kinds.Card{Kind: kinds.Other, Title: "Trust this project", Content: []kinds.Content{kinds.Text{Text: offer.Text()}}},
		choices: tools.Choices{Question: offer.question(), Allow: "Trust this project", Reject: "Do not trust it"},
		onAnswer: func(answer tools.Answer, err error) (string, transcript.State) {
			switch {
			case err != nil:
				return "The editor could not ask you, so this project is not trusted. Run `acp-agent trust` in a terminal.", transcript.Rejected
			case answer != tools.AllowOnce:
				return "This project is not trusted.", transcript.Rejected
			}
			if err := p.trust(offer); err != nil {
				return "This project is not trusted: " + kinds.Visible(err.Error()), transcript.Rejected
			}
			return "This project is trusted as it is now. `/trust off` takes that back.", transcript.Done
		},
	})
}
