package v1

import (
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// cardInterval paces the cards that show what a subagent does: the first is sent at once,
// then at most one per cardInterval.
const cardInterval = 250 * time.Millisecond

// liveCard is the content of the card of a running call, as far as it is not sent.
type liveCard struct {
	waiting []kinds.Content
	last    sentMark
}

// liveCard handles new content of a running call's card.
func (c *cards) liveCard(e transcript.ToolCard) {
	view := c.calls[e.CallID]
	if view == nil || view.stage != opened || view.pane != plainPane {
		return
	}
	if child := c.children[e.CallID]; child != nil && child.ended != nil {
		return
	}
	view.live.waiting = e.Content
	c.flushLiveCardDue(e.CallID, view)
}

// flushLiveCardDue sends waiting content if it is due, and otherwise sets the timer.
func (c *cards) flushLiveCardDue(id string, view *callView) {
	if view.live.waiting == nil {
		return
	}
	if wait := c.out.wait(view.live.last, cardInterval); wait > 0 {
		c.out.schedule(wait)
		return
	}
	c.out.flushText()
	content := view.live.waiting
	view.live.waiting = nil
	c.update(id, view, change{content: content})
	view.live.last = c.out.mark()
}
