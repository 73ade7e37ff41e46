package subagent

import (
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Emit adds an event to the agent's transcript and shows it.
func (n *Node) Emit(e transcript.Event) {
	if n.parent == nil {
		n.root.Emit(e)
		return
	}
	n.log.Apply(e)
	n.show(e)
}

// show emits an event that the agent's transcript already holds, and redraws the card if it
// shows the change. A muted agent emits nothing.
func (n *Node) show(e transcript.Event) {
	n.outputMu.RLock()
	defer n.outputMu.RUnlock()
	if n.muted {
		return
	}
	changed := n.view.apply(e)
	n.count(e)
	n.up(e)
	if changed {
		n.drawCard()
	}
}

// up sends an event of the agent to its parent. Events of its descendants take the same way,
// even after the agent itself has ended.
func (n *Node) up(e transcript.Event) {
	n.parent.relay(transcript.ChildEvent{CallID: n.spawnedBy, Event: e})
}

// relay sends an event about a call of this agent upwards.
func (n *Node) relay(e transcript.Event) {
	if n.parent == nil {
		n.root.Emit(e)
		return
	}
	n.up(e)
}

// count updates the record with an event and charges the account.
func (n *Node) count(e transcript.Event) {
	switch e := e.(type) {
	case transcript.StepStarted:
		n.child.Update(func(r *transcript.ChildRecord) { r.Steps++ })
	case transcript.StepFinished:
		if e.Usage != nil {
			n.Charge(n.Model(), *e.Usage)
		}
	case transcript.UsageChanged:
		if n.view.usageUnknown() {
			// The server reports no tokens, so the estimate is charged to keep the limit effective.
			n.account.chargeStep(e.Used, 0)
		}
	case transcript.ToolFinished:
		n.child.Update(func(r *transcript.ChildRecord) { r.Calls++ })
	}
}

// showCard emits the card in its current state.
func (n *Node) showCard() {
	n.outputMu.RLock()
	defer n.outputMu.RUnlock()
	if !n.muted {
		n.drawCard()
	}
}

// drawCard emits the card for the call that spawned the agent. It runs one at a time, so that
// an older card never replaces a newer one.
func (n *Node) drawCard() {
	n.view.drawing.Lock()
	defer n.view.drawing.Unlock()
	n.parent.relay(transcript.ToolCard{CallID: n.spawnedBy, Content: n.card()})
}

func (n *Node) card() []kinds.Content {
	return liveCard(n.child.Brief(), n.view.lines(), time.Now())
}

// showEnd emits the end of the agent.
func (n *Node) showEnd() {
	card := kinds.Card{Kind: kinds.Other, Content: n.outcome.result.Card}
	n.parent.relay(transcript.ChildFinished{CallID: n.spawnedBy, Child: n.child, Card: card})
}
