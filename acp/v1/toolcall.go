package v1

import (
	"encoding/json"
	"maps"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// pane is how a command's output reaches the editor.
type pane int

const (
	plainPane  pane = iota // as text in the card
	agentPane              // a terminal that we own, through _meta.terminal_output
	clientPane             // a terminal of the editor's own
)

// stage is how much of a call's card the editor has.
type stage int

const (
	unsent   stage = iota // not even its first message
	held                  // the first message waits until the call has ended (deferred.go)
	opened                // the card changes with the call
	complete              // the card shows the end, although the call's subagent continues
)

// callView is what the editor was sent about one call.
type callView struct {
	shown                    // what the updates have shown
	requests permissionViews // what permission requests have shown besides

	stage       stage
	name        string          // of the tool
	label       string          // the title before it takes the form that the client shows
	titlePrefix string          // names the subagent whose call this is
	parent      string          // the call that spawned that subagent
	input       json.RawMessage // of a held call
	turn        int             // the turn in which it was last sent

	// waits says that the call of a stored conversation still waits for the user: the next turn
	// asks again.
	waits bool

	pane     pane
	terminal string // the id of the terminal that shows the call
	output   commandOutput
	live     liveCard
	job      jobView
}

// cards shows the calls and the subagents of a session. The translator's lock guards it.
type cards struct {
	out      *outbox
	calls    map[string]*callView
	children map[string]*childView // by the call that spawned them
	turns    int                   // turns that have ended for the editor: their prompts are answered
}

// emit sends what an event of a call means; child is the subagent whose call it is, or nil.
func (c *cards) emit(e transcript.Event, child *childView) {
	switch e := e.(type) {
	case transcript.ToolStarted:
		c.startCall(e, child)
	case transcript.ToolReady:
		c.readyCall(e)
	case transcript.ToolState:
		c.callState(e, child)
	case transcript.ToolOutput:
		c.output(e)
	case transcript.ToolTerminal:
		c.clientTerminal(e)
	case transcript.ToolFinished:
		c.finishCall(e, child)
	case transcript.ToolCard:
		c.liveCard(e)
	case transcript.JobOutput:
		c.output(transcript.ToolOutput(e))
	case transcript.JobListens:
		c.jobPorts(e)
	case transcript.JobEnded:
		c.endJob(e)
	case transcript.ChildStarted:
		c.startChild(e, child)
	case transcript.ChildFinished:
		c.finishChild(e)
	}
}

func (c *cards) callState(e transcript.ToolState, child *childView) {
	view := c.calls[e.CallID]
	if view == nil {
		return
	}
	c.out.noteQuestion(child, view, e.State == transcript.BlockedOnUser)
	view.waits = c.out.replaying
	if e.State == transcript.InProgress && !view.waits {
		c.update(e.CallID, view, view.start())
	}
}

// startCall shows a call as soon as its name is known. A command waits for its text, because
// an editor takes the label of a terminal from the first message alone.
func (c *cards) startCall(e transcript.ToolStarted, child *childView) {
	view := &callView{name: e.Name, label: e.Card.Title, shown: shown{kind: e.Card.Kind}}
	if child != nil {
		view.parent, view.titlePrefix = child.call, breadcrumb(child.names)
	}
	c.calls[e.CallID] = view
	if c.mustHold(view) {
		view.stage = held
	}
	if view.kind != kinds.Execute {
		c.open(e.CallID, view, change{})
	}
}

func (c *cards) readyCall(e transcript.ToolReady) {
	view := c.calls[e.CallID]
	if view == nil {
		return
	}
	ready := change{input: rawJSON(e.Args), locations: e.Card.Locations, title: e.Card.Title, kind: e.Card.Kind}
	if ready.input == nil && e.Input != "" {
		ready.input, _ = json.Marshal(e.Input)
	}
	if view.stage >= opened {
		c.update(e.CallID, view, ready)
		return
	}
	view.label, view.kind = e.Card.Title, e.Card.Kind
	if view.kind == kinds.Execute && c.out.client.agentTerminals && len(e.Args) > 0 && view.stage != held {
		view.pane, view.terminal = agentPane, e.CallID
		ready.content = []kinds.Content{kinds.Terminal{ID: e.CallID}}
		ready.meta = terminalInfo(e)
	}
	c.open(e.CallID, view, ready)
}

// open sends the first message of a call.
func (c *cards) open(id string, view *callView, first change) {
	if view.stage == held {
		view.locations, view.input = first.locations, first.input
		return
	}
	client := c.out.client
	view.stage, view.status, view.turn = opened, pending, c.turns
	view.locations, view.content = client.shownLocations(view.kind, first.locations), first.content
	view.title = client.title(view.kind, view.titlePrefix+view.label, "", false)
	call := first.toolCall(id, view)
	if view.pane != agentPane || view.titlePrefix == "" {
		c.out.send(call)
		return
	}
	// The first title labels the terminal, which is to show the command and nothing else;
	// the title of the update that follows is that of the row.
	call.Title = client.title(view.kind, view.label, "", false)
	c.out.send(call)
	c.out.send(change{title: view.title, meta: view.meta(nil)}.sessionUpdate(id))
}

// update sends what differs from what the editor was sent about a call.
func (c *cards) update(id string, view *callView, next change) {
	if view.stage == held {
		view.updateHeld(next)
		return
	}
	next = view.unknown(c.out.client.form(view, next))
	if view.requests.input != nil {
		next.input, view.requests.input = view.requests.input, nil
	}
	if next.empty() {
		return
	}
	view.noteUpdate(next)
	if c.inEarlierTurn(view) {
		next.title, next.kind, next.locations = view.title, view.kind, view.locations
	}
	view.turn = c.turns
	next.meta = view.meta(next.meta)
	c.out.send(next.sessionUpdate(id))
}

// meta adds what the _meta of every message of a call carries.
func (v *callView) meta(m map[string]any) map[string]any {
	if v.parent == "" {
		return m
	}
	all := map[string]any{"claudeCode": parentMeta(v.parent)}
	maps.Copy(all, m)
	return all
}

// terminalInfo announces a terminal of ours; it may only stand in the first message of a
// call.
func terminalInfo(e transcript.ToolReady) map[string]any {
	info := map[string]any{"terminal_id": e.CallID}
	var args struct{ Cwd string }
	if json.Unmarshal(e.Args, &args) == nil && args.Cwd != "" {
		info["cwd"] = args.Cwd
	}
	return map[string]any{"terminal_info": info}
}

// clientTerminal shows a terminal of the editor in a call. Without an id it removes the
// terminal, because no program could be started there.
func (c *cards) clientTerminal(e transcript.ToolTerminal) {
	view := c.calls[e.CallID]
	if view == nil {
		return
	}
	c.showHeld(e.CallID, view)
	view.terminal = e.TerminalID
	if e.TerminalID == "" {
		view.pane = plainPane
		c.update(e.CallID, view, change{content: []kinds.Content{}})
		return
	}
	view.pane = clientPane
	c.update(e.CallID, view, change{content: []kinds.Content{kinds.Terminal{ID: e.TerminalID}}})
}

// flushDue sends the output, text and cards that are due.
func (c *cards) flushDue() {
	for _, child := range c.children {
		c.out.flushStreamDue(child.session, &child.text)
	}
	for id, view := range c.calls {
		c.flushOutputDue(id, view)
		c.flushLiveCardDue(id, view)
	}
}

// flush sends the text of the subagents and the output of the commands that wait.
func (c *cards) flush() {
	for _, child := range c.children {
		c.out.flushStream(child.session, &child.text)
	}
	for id, view := range c.calls {
		if view.output.unsent() {
			c.flushOutput(id, view)
		}
	}
}

// endTurn drops the calls and subagents of the turn that has ended.
func (c *cards) endTurn() {
	if c.out.quiet.prompts.Load() == 0 { // a replay; promptAnswered ends the turn of a prompt
		c.turns++
	}
	maps.DeleteFunc(c.calls, func(id string, view *callView) bool { return !view.waits && !view.job.runs && !c.outlivesTurn(id) })
	maps.DeleteFunc(c.children, func(id string, _ *childView) bool { return !c.outlivesTurn(id) })
}

// outliveTurn reports whether something may change a card between turns.
func (c *cards) outliveTurn() bool {
	if len(c.children) > 0 {
		return true
	}
	for _, view := range c.calls {
		if view.job.runs {
			return true
		}
	}
	return false
}

func rawJSON(args []byte) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	return args
}
