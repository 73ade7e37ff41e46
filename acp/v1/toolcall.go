package v1

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"acp-agent/internal/textcut"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Bounds of what the card of a running command shows, and how often.
const (
	// windowBytes bounds the text of a running command's card, which v1 can
	// only send whole: a window keeps the cost of n updates at O(n).
	windowBytes = 8 << 10
	// outputInterval and outputBytes pace a command's output.
	outputInterval = 100 * time.Millisecond
	outputBytes    = 32 << 10
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
	held                  // the first message waits until the call has ended (late.go)
	opened                // the card changes with the call
	complete              // the card has its end, though the call's subagent goes on
)

// callView is what the editor knows of one call.
type callView struct {
	shown // by updates alone
	// asked is what a client shows that takes over what permission requests carry; nil
	// before the first.
	asked *shown
	// running is the content of the card once the call runs, of one that was asked about.
	running []kinds.Content

	stage    stage
	name     string
	label    string // the title before it takes the form that the client shows
	pane     pane
	terminal string          // the id of the terminal that shows the call
	parent   string          // the call that spawned the subagent whose call this is
	crumb    string          // the head of the title, which names that subagent
	asking   bool            // it waits for the user
	input    json.RawMessage // of a call that is held
	turn     int             // the turn in which it was last sent, as the translator counts them

	card     []kinds.Content // content of a live card, not sent yet
	cardLast pace

	waiting strings.Builder // output not sent yet
	window  []byte          // the end of the output, for plainPane
	cut     bool            // window has lost its beginning
	fresh   bool            // window has something that was not sent
	midLine bool            // the output does not end with a line break
	last    pace
}

// emitCall sends what an event of a tool call means; of is the subagent whose call it is,
// or nil.
func (t *translator) emitCall(e transcript.Event, of *childView) {
	switch e := e.(type) {
	case transcript.ToolStarted:
		t.startCall(e, of)
	case transcript.ToolReady:
		t.readyCall(e)
	case transcript.ToolState:
		t.callState(e, of)
	case transcript.ToolOutput:
		t.output(e)
	case transcript.ToolTerminal:
		t.terminalOf(e)
	case transcript.ToolFinished:
		t.finishCall(e, of)
	case transcript.ToolCard:
		t.card(e)
	case transcript.ChildStarted:
		t.startChild(e, of)
	case transcript.ChildFinished:
		t.finishChild(e)
	}
}

func (t *translator) callState(e transcript.ToolState, of *childView) {
	view := t.calls[e.CallID]
	if view == nil {
		return
	}
	t.asks(of, view, e.State == transcript.BlockedOnUser)
	if e.State == transcript.InProgress {
		t.update(e.CallID, view, view.start())
	}
}

// startCall shows a call as soon as its name is known. Commands wait for their
// text: an editor takes a terminal's label from the first message alone.
func (t *translator) startCall(e transcript.ToolStarted, of *childView) {
	view := &callView{name: e.Name, label: kinds.Label(e.Tool), shown: shown{kind: kinds.Of(e.Tool)}}
	if of != nil {
		view.parent, view.crumb = of.call, breadcrumb(of.names)
	}
	t.calls[e.CallID] = view
	if t.holds(view) {
		view.stage = held
	}
	if view.kind != kinds.Execute {
		t.open(e.CallID, view, change{})
	}
}

func (t *translator) readyCall(e transcript.ToolReady) {
	view := t.calls[e.CallID]
	if view == nil {
		return
	}
	c := change{input: rawJSON(e.Args), locations: e.Card.Locations, title: e.Card.Title, kind: e.Card.Kind}
	if c.input == nil && e.Input != "" {
		c.input, _ = json.Marshal(e.Input)
	}
	if view.stage >= opened {
		t.update(e.CallID, view, c)
		return
	}
	view.label, view.kind = e.Card.Title, e.Card.Kind
	if view.kind == kinds.Execute && t.client.agentTerminals && len(e.Args) > 0 && view.stage != held {
		view.pane, view.terminal = agentPane, e.CallID
		c.content = []kinds.Content{kinds.Terminal{ID: e.CallID}}
		c.meta = terminalInfo(e)
	}
	t.open(e.CallID, view, c)
}

// terminalInfo announces a terminal of ours; it may only stand in the first
// message of a call.
func terminalInfo(e transcript.ToolReady) map[string]any {
	info := map[string]any{"terminal_id": e.CallID}
	var args struct{ Cwd string }
	if json.Unmarshal(e.Args, &args) == nil && args.Cwd != "" {
		info["cwd"] = args.Cwd
	}
	return map[string]any{"terminal_info": info}
}

// terminalOf shows the editor's terminal in a call, or with no id takes it back
// because nothing could be started there.
func (t *translator) terminalOf(e transcript.ToolTerminal) {
	view := t.calls[e.CallID]
	if view == nil {
		return
	}
	t.unhold(e.CallID, view)
	view.terminal = e.TerminalID
	if e.TerminalID == "" {
		view.pane = plainPane
		t.update(e.CallID, view, change{content: []kinds.Content{}})
		return
	}
	view.pane = clientPane
	t.update(e.CallID, view, change{content: []kinds.Content{kinds.Terminal{ID: e.TerminalID}}})
}

// output takes a piece of a running command's output.
func (t *translator) output(e transcript.ToolOutput) {
	view := t.calls[e.CallID]
	if view == nil || view.pane == clientPane {
		return
	}
	view.waiting.WriteString(e.Text)
	if e.Text != "" {
		view.midLine = !strings.HasSuffix(e.Text, "\n")
	}
	t.flushOutputDue(e.CallID, view)
}

// flushOutputDue sends the output that waits, or has the timer fire when that is due.
func (t *translator) flushOutputDue(id string, view *callView) {
	if view.waiting.Len() == 0 && !view.fresh {
		return
	}
	wait := t.wait(view.last, outputInterval)
	if wait == 0 || view.pane == agentPane && view.waiting.Len() >= outputBytes {
		t.flushText()
		t.flushOutput(id, view)
		return
	}
	if view.pane == plainPane && view.waiting.Len() >= windowBytes {
		view.slideWindow() // so that output between two updates does not pile up
	}
	t.schedule(wait)
}

// slideWindow moves what waits into the bounded window of a plain card.
func (v *callView) slideWindow() {
	v.fresh = true
	v.window = append(v.window, v.waiting.String()...)
	v.waiting.Reset()
	if len(v.window) > windowBytes {
		v.window, v.cut = slices.Clone(textcut.Last(v.window, windowBytes)), true
	}
}

func (t *translator) flushOutputs() {
	for id, view := range t.calls {
		if view.waiting.Len() > 0 || view.fresh {
			t.flushOutput(id, view)
		}
	}
}

// flushOutput sends what a command has printed since the last time.
func (t *translator) flushOutput(id string, view *callView) {
	defer func() { view.last = t.paced() }()
	if view.pane == agentPane {
		key := "terminal_output"
		if t.client.terminalDelta {
			key = "terminal_output_delta"
		}
		text := view.waiting.String()
		view.waiting.Reset()
		t.update(id, view, change{meta: map[string]any{key: map[string]any{"terminal_id": id, "data": text}}})
		return
	}
	view.slideWindow()
	view.fresh = false
	shown := string(view.window)
	if view.cut {
		shown = "…" + shown
	}
	t.update(id, view, change{content: []kinds.Content{kinds.Text{Text: kinds.Fence("console", shown)}}})
}

func rawJSON(args []byte) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	return args
}
