package tools

import (
	"cmp"

	"acp-agent/kinds"
)

// Card is what the user sees of a call with these arguments (R151). It never fails:
// arguments that are missing or malformed give the tool's label. Control and bidirectional
// characters in titles are escaped, so that a title cannot pretend to be another
// (docs/security.md O2).
func (s *Spec) Card(args Args, in kinds.Place) kinds.Card {
	card := kinds.Neutral(s.ID)
	if s.Kind.Valid() {
		card.Kind = s.Kind
	}
	if s.Foreign() {
		return card
	}
	card.Title = cmp.Or(s.Label, card.Title)
	if s.Describe == nil || len(args.Raw()) == 0 {
		return card
	}
	described := s.Describe(args, in)
	card.Kind, card.Title = cmp.Or(described.Kind, card.Kind), cmp.Or(described.Title, card.Title)
	card.Locations, card.Content = described.Locations, described.Content
	if card.Kind == kinds.Execute {
		card.Title = kinds.Visible(card.Title) // the whole command
	} else {
		card.Title = kinds.Line(card.Title, kinds.TitleRunes)
	}
	return card
}

// Label returns the tool that a name stands for, and the card of a call of it whose
// arguments are not known yet. A tool from elsewhere has the neutral one.
func (r *Registry) Label(name string) (id string, card kinds.Card) {
	id = r.Canonical(name)
	if entry, ok := r.Get(id); ok && !entry.Foreign() {
		return id, entry.Card(Args{}, kinds.Place{})
	}
	return id, kinds.Neutral(id)
}
