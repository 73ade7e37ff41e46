package v1

import (
	"time"

	"acp-agent/transcript"
)

// cardInterval paces the cards that show what a subagent does: the first goes out at
// once, then at most one per cardInterval.
const cardInterval = 250 * time.Millisecond

// card takes new content of a running call's card.
func (t *translator) card(e transcript.ToolCard) {
	view := t.calls[e.CallID]
	if view == nil || view.stage != opened || view.pane != plainPane {
		return
	}
	if child := t.children[e.CallID]; child != nil && child.ended != nil {
		return
	}
	view.card = e.Content
	t.flushCardDue(e.CallID, view)
}

// flushCardDue sends a card that waits, or has the timer fire when that is due.
func (t *translator) flushCardDue(id string, view *callView) {
	if view.card == nil {
		return
	}
	if wait := t.wait(view.cardLast, cardInterval); wait > 0 {
		t.schedule(wait)
		return
	}
	t.flushText()
	content := view.card
	view.card = nil
	t.update(id, view, change{content: content})
	view.cardLast = t.paced()
}
