package v1

import (
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// childView is what the editor knows of one subagent.
type childView struct {
	call  string     // the call that spawned it
	of    *childView // the subagent that it belongs to; nil is the main agent
	names []string   // from below the main agent down to it
	// background says that the call was answered and its card stays open, ended that
	// nothing more comes of it.
	background bool
	ended      *transcript.ChildFinished
	// apart says that no turn waits for it, from its beginning on.
	apart bool

	// session is the id of its session where the client shows those, and empty where
	// not. The rest is of that session.
	session string
	state   string
	asking  int // its calls that wait for the person
	text    stream
}

// Bounds in runes of what titles say of who a call belongs to.
const (
	nameRunes  = 40
	namesRunes = 200
)

// breadcrumb joins the names of agents for the head of a title: a client that does not
// nest calls shows by it whose they are (R70).
func breadcrumb(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(kinds.Line(name, nameRunes) + " › ")
	}
	return b.String()
}

// pathOf joins the names of agents for a sentence.
func pathOf(names []string) string { return kinds.Line(transcript.PathText(names), namesRunes) }

// innermost finds the agent that an event of a subagent is from, nil if it has ended.
func (t *translator) innermost(e transcript.ChildEvent) (*childView, transcript.Event) {
	for {
		inner, ok := e.Event.(transcript.ChildEvent)
		if !ok {
			return t.children[e.CallID], e.Event
		}
		e = inner
	}
}

// emitChild sends what an event of a subagent means. Its calls are calls of the session,
// linked to the one that spawned it. What it says is not what the agent says, and is sent
// only where it has a session of its own; its turns, its title and the fill of its
// context are nobody's.
func (t *translator) emitChild(of *childView, e transcript.Event) {
	switch e := e.(type) {
	case transcript.ToolStarted, transcript.ToolReady, transcript.ToolState, transcript.ToolTerminal, transcript.ToolFinished,
		transcript.ChildStarted, transcript.ChildFinished:
		t.flushText()
		t.emitCall(e, of)
	case transcript.ToolOutput, transcript.ToolCard:
		t.emitCall(e, of)
	case transcript.ModeChanged, transcript.OptionsChanged, transcript.CommandsChanged, transcript.SandboxFound:
		t.flushText()
		t.emitSession(e)
	case transcript.Notice:
		if of != nil {
			t.flushText()
			e.Title, e.Text = breadcrumb(of.names)+e.Title, breadcrumb(of.names)+e.Text
			t.notice(e)
		}
	default:
		if of != nil && of.session != "" {
			t.inSession(of, e)
		}
	}
}

// startChild notes a subagent. A call spawns one.
func (t *translator) startChild(e transcript.ChildStarted, of *childView) {
	if t.calls[e.CallID] == nil || t.children[e.CallID] != nil {
		return
	}
	record := e.Child.Record()
	child := &childView{call: e.CallID, of: of, names: record.Path, text: newStream(), apart: record.Background}
	if len(child.names) == 0 {
		child.names = []string{record.Agent}
	}
	t.children[e.CallID] = child
	t.announce(child, record)
}

// finishChild ends a subagent, and its call's card if that stayed open for it. The card
// of any other call ends with the call.
func (t *translator) finishChild(e transcript.ChildFinished) {
	child := t.children[e.CallID]
	if child == nil {
		return
	}
	child.ended = &e
	t.depart(child, e.Child.Record())
	view := t.calls[e.CallID]
	switch {
	case view == nil:
		delete(t.children, e.CallID)
	case child.background:
		t.closeCall(view, child)
	default:
		view.card = nil
	}
}

// keepOpen shows that a call is answered while its subagent goes on in the background.
func (t *translator) keepOpen(e transcript.ToolFinished, view *callView, child *childView) {
	child.background = true
	if t.client.dropsBetweenTurns {
		t.closeEarly(e, view, child)
		return
	}
	c := change{status: inProgress, title: e.Card.Title, kind: e.Card.Kind, locations: e.Card.Locations, content: e.Card.Content, output: rawOutput(e)}
	if view.card != nil || !view.cardLast.at.IsZero() { // newer than the answer, which was made as it began
		c.content, view.card = view.card, nil
	}
	if c.content == nil && view.content == nil {
		c.content = []kinds.Content{kinds.Text{Text: "It runs in the background."}}
	}
	t.update(e.CallID, view, c)
	if child.ended != nil { // it was faster than the answer to its call
		t.closeCall(view, child)
	}
}

// goesOn is the card of a call whose subagent goes on after the card is closed.
const goesOn = "It goes on in the background. The chat says when it has finished."

// closeEarly ends the call of a subagent in the background with its answer, in a client that
// cannot change a card once its turn has ended. What comes of the subagent is said in the chat.
func (t *translator) closeEarly(e transcript.ToolFinished, view *callView, child *childView) {
	view.stage, view.card = complete, nil
	t.update(e.CallID, view, change{
		status: completed, title: e.Card.Title, kind: e.Card.Kind, locations: e.Card.Locations, output: rawOutput(e), last: true,
		content: []kinds.Content{kinds.Text{Text: goesOn}},
	})
	if child.ended != nil {
		t.closeCall(view, child)
	}
}

// closeCall gives the call of a subagent that ran in the background its final status.
func (t *translator) closeCall(view *callView, child *childView) {
	end, record := child.ended, child.ended.Child.Record()
	delete(t.calls, child.call)
	delete(t.children, child.call)
	if view.stage == complete {
		return
	}
	c := change{status: failed, title: end.Card.Title, kind: end.Card.Kind, locations: end.Card.Locations, content: end.Card.Content, last: true}
	if record.State == transcript.ChildDone {
		c.status = completed
	}
	if c.content == nil {
		c.content = []kinds.Content{kinds.Text{Text: cameOf(record)}}
	}
	t.update(child.call, view, c)
}

// cameOf says in a sentence how a subagent ended.
func cameOf(record transcript.ChildRecord) string {
	text := "It ended: " + string(record.State)
	if record.Note != "" {
		text += ". " + span(record.Note)
	}
	return text
}

// survives reports whether a call outlives the turn: it belongs to a subagent in the
// background, or spawned it.
func (t *translator) survives(call string) bool {
	for call != "" {
		if child := t.children[call]; child != nil && child.background {
			return true
		}
		view := t.calls[call]
		if view == nil {
			return false
		}
		call = view.parent
	}
	return false
}

// whose finds the agent of a call: its names, none for the main agent, and whether no turn
// waits for it.
func (t *translator) whose(call string) (names []string, background bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	view := t.calls[call]
	if view == nil || t.children[view.parent] == nil {
		return nil, false
	}
	return t.children[view.parent].names, t.inBackground(view)
}

// inBackground reports whether no turn waits for the agent of a call. The lock is held.
func (t *translator) inBackground(view *callView) bool {
	for ; view != nil; view = t.calls[view.parent] {
		if child := t.children[view.parent]; child != nil && child.apart {
			return true
		}
	}
	return false
}

// parentOf is the id of the call that spawned the agent whose call this is; empty for one
// of the main agent.
func (t *translator) parentOf(call string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if view := t.calls[call]; view != nil {
		return view.parent
	}
	return ""
}

// parentMeta is the link from a call to the one that spawned its agent, in the form that
// clients know (R70).
func parentMeta(parent string) map[string]any { return map[string]any{"parentToolUseId": parent} }
