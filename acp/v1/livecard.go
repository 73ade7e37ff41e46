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
	if view == nil || !view.opened || view.closed || view.pane != plainPane {
		return
	}
	if child := t.children[e.CallID]; child != nil && child.ended != nil {
		return
	}
	view.card = e.Content
	if wait := cardInterval - t.now().Sub(view.cardSent); wait > 0 {
		t.schedule(wait)
		return
	}
	t.flushText()
	t.flushCard(e.CallID, view)
}

func (t *translator) flushCard(id string, view *callView) {
	content := view.card
	view.card, view.cardSent = nil, t.now()
	t.update(id, view, change{content: content})
}

// flushCards sends the cards whose time has come, and has the timer fire for the others.
func (t *translator) flushCards() {
	for id, view := range t.calls {
		if view.card == nil {
			continue
		}
		if wait := cardInterval - t.now().Sub(view.cardSent); wait > 0 {
			t.schedule(wait)
			continue
		}
		t.flushCard(id, view)
	}
}
