package subagent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// view is what is shown of a subagent, folded from its stream: the lines of the card of
// the call that spawned it, and what that call's result lists (R70).
type view struct {
	drawing sync.Mutex // held while a card is drawn and shown

	mu         sync.Mutex            // guards what follows
	calls      map[string]*shownCall // those that have not ended
	executions []*shownCall
	modified   map[string]struct{}
	read       map[string]struct{} // the files of reading calls
	parts      map[string]struct{} // of texts that have not ended
	unknown    bool                // the server said nothing of the tokens of the last step
}

// shownCall is a tool call of the subagent.
type shownCall struct {
	tools.Execution
	line CardLine
	// ready says that it is among the executions.
	ready bool
}

func newView() *view {
	return &view{calls: map[string]*shownCall{}, modified: map[string]struct{}{}, read: map[string]struct{}{}, parts: map[string]struct{}{}}
}

// note folds an event, and reports whether the card shows it.
func (v *view) note(e transcript.Event) (changed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := e.(type) {
	case transcript.StepStarted:
		return true
	case transcript.StepFinished:
		v.unknown = e.Usage == nil
	case transcript.PartStarted:
		v.parts[e.PartID] = struct{}{}
	case transcript.PartEnded:
		delete(v.parts, e.PartID)
	case transcript.ToolStarted:
		v.calls[e.CallID] = &shownCall{
			Execution: tools.Execution{CallID: e.CallID, Tool: e.Tool, Title: e.Name, State: transcript.Queued},
			line:      CardLine{Title: e.Name, State: transcript.Queued},
		}
	case transcript.ToolReady:
		if c := v.calls[e.CallID]; c != nil { // it is shown when it runs or waits
			c.Tool, c.Title, c.line.Title = e.Tool, e.Card.Title, e.Card.Title
			v.list(c)
		}
	case transcript.ToolState:
		if c := v.calls[e.CallID]; c != nil {
			c.State, c.line.State = e.State, e.State
			return true
		}
	case transcript.ToolFinished:
		v.end(e)
		return true
	}
	return false
}

func (v *view) list(c *shownCall) {
	if !c.ready {
		c.ready = true
		v.executions = append(v.executions, c)
	}
}

func (v *view) end(e transcript.ToolFinished) {
	c := v.calls[e.CallID]
	if c == nil {
		return
	}
	delete(v.calls, e.CallID)
	v.list(c)
	c.State, c.DurationMS = e.State, e.Result.Metadata.DurationMS
	c.line.State, c.line.Result = e.State, brief(e)
	if e.Card.Title != "" {
		c.Title, c.line.Title = e.Card.Title, e.Card.Title
	}
	for _, path := range e.Result.Metadata.TrackFiles {
		v.modified[path] = struct{}{}
	}
	if e.State == transcript.Done && e.Card.Kind == kinds.Read {
		for _, location := range e.Card.Locations {
			v.read[location.Path] = struct{}{}
		}
	}
}

// open are the ids of the texts, and the calls, that have not ended.
func (v *view) open() (parts []string, calls []tools.Execution) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(v.calls)) {
		calls = append(calls, v.calls[id].Execution)
	}
	return slices.Sorted(maps.Keys(v.parts)), calls
}

// unmetered reports whether nothing is known of the tokens of the last model call.
func (v *view) unmetered() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unknown
}

// shown are the lines of the card.
func (v *view) shown() []CardLine {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines := make([]CardLine, len(v.executions))
	for i, c := range v.executions {
		lines[i] = c.line
	}
	return lines
}

// changed adds files that an agent below has changed.
func (v *view) changed(files []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, path := range files {
		v.modified[path] = struct{}{}
	}
}

// brief says in a few words what came of a call: the reason of one that failed, the exit
// code of a command, a text of one line.
func brief(e transcript.ToolFinished) string {
	first, _, more := strings.Cut(strings.TrimSpace(e.Text), "\n")
	if e.State != transcript.Done {
		return first
	}
	var command struct {
		ExitCode *int `json:"exit_code"`
	}
	switch {
	case json.Unmarshal(e.Result.Data, &command) == nil && command.ExitCode != nil:
		return fmt.Sprintf("exit code %d", *command.ExitCode)
	case more:
		return ""
	}
	return first
}

// result is what came of a subagent that has ended. What it changed, those above it have
// changed through it.
func (n *Node) result() *tools.Delegated {
	v := n.view
	d := &tools.Delegated{Record: n.child.Brief()}
	v.mu.Lock()
	d.Modified = slices.Sorted(maps.Keys(v.modified))
	for _, c := range v.executions {
		d.Executions = append(d.Executions, c.Execution)
	}
	v.mu.Unlock()
	for p := n.parent; p.parent != nil; p = p.parent {
		p.view.changed(d.Modified)
	}
	d.Summary = summary(d)
	d.Card = Closing(d, v.shown(), n.family.Place)
	return d
}

// summary says in one line what a subagent did (R70).
func summary(d *tools.Delegated) string {
	r := d.Record
	state := string(r.State)
	if r.State == transcript.ChildDone {
		state = "ended"
	}
	text := fmt.Sprintf("%s after %s and %s", state, kinds.Count(r.Steps, "model call"), kinds.Count(r.Calls, "tool call"))
	if n := len(d.Modified); n > 0 {
		text += ", " + kinds.Count(n, "file") + " changed"
	}
	if total := r.Usage.Total(); total > 0 {
		text += ", " + kinds.Count(total, "token")
	}
	return text
}
