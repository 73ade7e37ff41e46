package v1

import (
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// childView is what the editor was sent about one subagent.
type childView struct {
	call   string     // the call that spawned it
	parent *childView // the subagent that spawned it; nil is the main agent
	names  []string   // the agents from below the main agent down to this one
	// detached says that no turn waits for the subagent, from its start on.
	detached bool
	// background says that the call was answered while the subagent continues.
	background bool
	ended      *transcript.ChildFinished // nil while it runs

	// What follows is of the subagent's own session, whose id is empty if the client does not
	// show sessions of subagents.
	session   string
	state     string
	questions int // calls that wait for the user
	text      stream
}

// Bounds in runes of the names of agents in titles.
const (
	nameRunes  = 40
	namesRunes = 200
)

// breadcrumb joins the names of agents as the beginning of a title. In a client that does not
// nest calls it says whose a call is (R70).
func breadcrumb(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(kinds.Line(name, nameRunes) + " › ")
	}
	return b.String()
}

// pathOf joins the names of agents for a sentence.
func pathOf(names []string) string { return kinds.Line(transcript.PathText(names), namesRunes) }

// innermost finds the subagent that emitted an event, and the event; nil if it has ended.
func (c *cards) innermost(e transcript.ChildEvent) (*childView, transcript.Event) {
	for {
		inner, ok := e.Event.(transcript.ChildEvent)
		if !ok {
			return c.children[e.CallID], e.Event
		}
		e = inner
	}
}

// startChild notes a subagent. A call spawns at most one.
func (c *cards) startChild(e transcript.ChildStarted, parent *childView) {
	if c.calls[e.CallID] == nil || c.children[e.CallID] != nil {
		return
	}
	record := e.Child.Record()
	child := &childView{call: e.CallID, parent: parent, names: record.Path, text: newStream(), detached: record.Background}
	if len(child.names) == 0 {
		child.names = []string{record.Agent}
	}
	c.children[e.CallID] = child
	c.out.announceChild(child, record)
}

// finishChild ends a subagent. It closes the card of its call if that stayed open for the
// subagent; any other card closes with its call.
func (c *cards) finishChild(e transcript.ChildFinished) {
	child := c.children[e.CallID]
	if child == nil {
		return
	}
	child.ended = &e
	c.out.endChildSession(child, e.Child.Record())
	view := c.calls[e.CallID]
	switch {
	case view == nil:
		delete(c.children, e.CallID)
	case child.background:
		c.closeCall(view, child)
	default:
		view.live.waiting = nil
	}
}

// continueChild shows that a call is answered while its subagent continues in the background.
func (c *cards) continueChild(e transcript.ToolFinished, view *callView, child *childView) {
	child.background = true
	if c.out.client.dropsBetweenTurns {
		c.closeEarly(e, view, child)
		return
	}
	next := change{status: inProgress, title: e.Card.Title, kind: e.Card.Kind, locations: e.Card.Locations, content: e.Card.Content, output: rawOutput(e)}
	if view.live.waiting != nil || !view.live.last.at.IsZero() { // newer than the answer, which was made at the start
		next.content, view.live.waiting = view.live.waiting, nil
	}
	if next.content == nil && view.content == nil {
		next.content = []kinds.Content{kinds.Text{Text: "It runs in the background."}}
	}
	c.update(e.CallID, view, next)
	if child.ended != nil { // the subagent ended before its call was answered
		c.closeCall(view, child)
	}
}

// continuesText is the card of a call that was closed while its subagent continues.
const continuesText = "It goes on in the background. The chat says when it has finished."

// closeEarly closes the card of a background subagent with the answer to its call, in a
// client that cannot change a card once its turn has ended. The chat reports the result.
func (c *cards) closeEarly(e transcript.ToolFinished, view *callView, child *childView) {
	view.stage, view.live.waiting = complete, nil
	c.update(e.CallID, view, change{
		status: completed, title: e.Card.Title, kind: e.Card.Kind, locations: e.Card.Locations, output: rawOutput(e), last: true,
		content: []kinds.Content{kinds.Text{Text: continuesText}},
	})
	if child.ended != nil {
		c.closeCall(view, child)
	}
}

// closeCall gives the call of a background subagent its final status.
func (c *cards) closeCall(view *callView, child *childView) {
	end, record := child.ended, child.ended.Child.Record()
	delete(c.calls, child.call)
	delete(c.children, child.call)
	if view.stage == complete {
		return
	}
	last := change{status: failed, title: end.Card.Title, kind: end.Card.Kind, locations: end.Card.Locations, content: end.Card.Content, last: true}
	if record.State == transcript.ChildDone {
		last.status = completed
	}
	if last.content == nil {
		last.content = []kinds.Content{kinds.Text{Text: outcomeText(record)}}
	}
	c.update(child.call, view, last)
}

// outcomeText says in a sentence how a subagent ended.
func outcomeText(record transcript.ChildRecord) string {
	text := "It ended: " + string(record.State)
	if record.Note != "" {
		text += ". " + span(record.Note)
	}
	return text
}

// outlivesTurn reports whether a call continues after the turn: it belongs to a background
// subagent, or spawned one.
func (c *cards) outlivesTurn(call string) bool {
	for call != "" {
		if child := c.children[call]; child != nil && child.background {
			return true
		}
		view := c.calls[call]
		if view == nil {
			return false
		}
		call = view.parent
	}
	return false
}

// inBackground reports whether no turn waits for the agent of a call.
func (c *cards) inBackground(view *callView) bool {
	for ; view != nil; view = c.calls[view.parent] {
		if child := c.children[view.parent]; child != nil && child.detached {
			return true
		}
	}
	return false
}

// agentOf finds the agent of a call: its names, none for the main agent, and whether no turn
// waits for it.
func (t *translator) agentOf(call string) (names []string, background bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	view := t.cards.calls[call]
	if view == nil || t.cards.children[view.parent] == nil {
		return nil, false
	}
	return t.cards.children[view.parent].names, t.cards.inBackground(view)
}

// parentOf is the id of the call that spawned the agent of a call; empty for the main agent.
func (t *translator) parentOf(call string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if view := t.cards.calls[call]; view != nil {
		return view.parent
	}
	return ""
}

// showForQuestion opens the card of a held call because the user is asked about it.
func (t *translator) showForQuestion(call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if view := t.cards.calls[call]; view != nil {
		t.cards.showHeld(call, view)
	}
}

// parentMeta is the link from a call to the one that spawned its agent, in the form that
// clients know (R70).
func parentMeta(parent string) map[string]any { return map[string]any{"parentToolUseId": parent} }
