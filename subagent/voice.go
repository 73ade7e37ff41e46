package subagent

import (
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Emit puts an event into the agent's transcript and shows it.
func (n *Node) Emit(e transcript.Event) {
	if n.parent == nil {
		n.top.Emit(e)
		return
	}
	n.log.Apply(e)
	n.say(e)
}

// say shows what the agent's transcript holds already, and with it the card when that
// shows the change. Once the agent has ended, nothing is shown.
func (n *Node) say(e transcript.Event) {
	n.voice.RLock()
	defer n.voice.RUnlock()
	if n.silent {
		return
	}
	changed := n.view.note(e)
	n.count(e)
	n.up(e)
	if changed {
		n.drawCard()
	}
}

// up passes on an event of the agent. Those of the subagents below it take the same way,
// also when it has ended itself and they go on.
func (n *Node) up(e transcript.Event) {
	n.parent.relay(transcript.ChildEvent{CallID: n.spawnedBy, Event: e})
}

// relay passes on what concerns a call of the agent that delegated.
func (n *Node) relay(e transcript.Event) {
	if n.parent == nil {
		n.top.Emit(e)
		return
	}
	n.up(e)
}

// count counts in the record what an event tells, and charges the account.
func (n *Node) count(e transcript.Event) {
	switch e := e.(type) {
	case transcript.StepStarted:
		n.child.Update(func(r *transcript.ChildRecord) { r.Steps++ })
	case transcript.StepFinished:
		if e.Usage != nil {
			n.charge(*e.Usage)
		}
	case transcript.UsageChanged:
		if n.view.unmetered() {
			// The server says nothing of tokens: the estimate has to do, for the bound to hold.
			n.account.chargeStep(e.Used, 0)
		}
	case transcript.ToolFinished:
		n.child.Update(func(r *transcript.ChildRecord) { r.Calls++ })
	}
}

// showCard shows the card as it is now.
func (n *Node) showCard() {
	n.voice.RLock()
	defer n.voice.RUnlock()
	if !n.silent {
		n.drawCard()
	}
}

// drawCard shows the card to the call that spawned the agent. One is drawn and shown at
// a time, so that an older one never replaces a newer one.
func (n *Node) drawCard() {
	n.view.drawing.Lock()
	defer n.view.drawing.Unlock()
	n.parent.relay(transcript.ToolCard{CallID: n.spawnedBy, Content: n.card()})
}

func (n *Node) card() []kinds.Content {
	return Card(n.child.Brief(), n.view.shown(), time.Now())
}

// showEnd shows how the agent ended.
func (n *Node) showEnd() {
	card := kinds.Card{Kind: kinds.Of(taskTool), Content: n.ending.result.Card}
	n.parent.relay(transcript.ChildFinished{CallID: n.spawnedBy, Child: n.child, Card: card})
}

// taskTool is the tool whose calls spawn subagents by their type.
const taskTool = "task"
