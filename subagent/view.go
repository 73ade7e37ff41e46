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

// view folds the events of a subagent into what the user sees of it: the lines of the card of
// the call that spawned it, and the lists in that call's result (R70).
type view struct {
	drawing sync.Mutex // held while a card is rendered and emitted

	mu         sync.Mutex            // guards the following fields
	calls      map[string]*shownCall // unfinished calls
	executions []*shownCall
	modified   map[string]struct{}
	read       map[string]struct{} // files that reading calls read
	parts      map[string]struct{} // unfinished texts
	noUsage    bool                // the server reported no tokens for the last step
}

// shownCall is a tool call of the subagent.
type shownCall struct {
	tools.Execution
	line cardLine
	// label is the card before the arguments are known.
	label kinds.Card
	// ready means that the call is in executions.
	ready bool
}

func newView() *view {
	return &view{calls: map[string]*shownCall{}, modified: map[string]struct{}{}, read: map[string]struct{}{}, parts: map[string]struct{}{}}
}

// apply folds an event, and reports whether the card shows the change.
func (v *view) apply(e transcript.Event) (changed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := e.(type) {
	case transcript.StepStarted:
		return true
	case transcript.StepFinished:
		v.noUsage = e.Usage == nil
	case transcript.PartStarted:
		v.parts[e.PartID] = struct{}{}
	case transcript.PartEnded:
		delete(v.parts, e.PartID)
	case transcript.ToolStarted:
		v.calls[e.CallID] = &shownCall{
			Execution: tools.Execution{CallID: e.CallID, Tool: e.Tool, Title: e.Name, State: transcript.Queued},
			line:      cardLine{Title: e.Name, State: transcript.Queued},
			label:     e.Card,
		}
	case transcript.ToolReady:
		if c := v.calls[e.CallID]; c != nil { // the card is redrawn when the call runs or waits
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
	c.line.State, c.line.Result = e.State, resultText(e)
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

// open returns the ids of the unfinished texts, and the unfinished calls.
func (v *view) open() (parts []string, calls []shownCall) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(v.calls)) {
		calls = append(calls, *v.calls[id])
	}
	return slices.Sorted(maps.Keys(v.parts)), calls
}

// usageUnknown reports whether the server reported no tokens for the last model call.
func (v *view) usageUnknown() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.noUsage
}

// lines returns the lines of the card.
func (v *view) lines() []cardLine {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines := make([]cardLine, len(v.executions))
	for i, c := range v.executions {
		lines[i] = c.line
	}
	return lines
}

// addModified adds files that a descendant changed.
func (v *view) addModified(files []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, path := range files {
		v.modified[path] = struct{}{}
	}
}

// resultText describes the result of a call in a few words: why it failed, the exit code of a
// command, or a text of one line.
func resultText(e transcript.ToolFinished) string {
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

// result returns the result of a subagent that has ended. It adds the changed files to its
// ancestors, which changed them through it.
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
		p.view.addModified(d.Modified)
	}
	d.Summary = summary(d)
	d.Card = finalCard(d, v.lines(), n.tree.Place)
	return d
}

// summary describes in one line what a subagent did (R70).
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
