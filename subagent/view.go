package subagent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// view is what a subagent's parent is shown of it: its stream, and the card of the call
// that spawned it, folded from that stream (R70).
type view struct {
	node *Node

	mu         sync.Mutex
	executions []tools.Execution
	at         map[string]int // of open calls
	modified   map[string]struct{}
	lines      []CardLine
}

func newView(n *Node) *view {
	return &view{node: n, at: map[string]int{}, modified: map[string]struct{}{}}
}

// tell passes an event on to the parent, and with it the card when it shows the change.
func (v *view) tell(e transcript.Event) {
	n := v.node
	changed := v.note(e)
	n.parent.emit(transcript.ChildEvent{CallID: n.spawnedBy, Event: e})
	if changed {
		v.show()
	}
}

// show shows the card as it is now.
func (v *view) show() {
	n := v.node
	n.parent.emit(transcript.ToolCard{CallID: n.spawnedBy, Content: v.card()})
}

func (v *view) card() []kinds.Content {
	record := v.node.record()
	return Card(record, v.shown(), time.Now())
}

func (v *view) shown() []CardLine {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.lines)
}

// finish shows how the subagent ended.
func (v *view) finish() {
	n := v.node
	card := kinds.Card{Kind: kinds.Of(taskTool), Content: n.closed().Card}
	n.parent.emit(transcript.ChildFinished{CallID: n.spawnedBy, Child: n.child, Card: card})
}

// taskTool is the tool whose calls spawn subagents by their type.
const taskTool = "task"

// note folds an event and reports whether the card shows it.
func (v *view) note(e transcript.Event) (changed bool) {
	n := v.node
	switch e := e.(type) {
	case transcript.StepStarted:
		n.child.Update(func(r *transcript.ChildRecord) { r.Steps++ })
		return true
	case transcript.StepFinished:
		if e.Usage == nil {
			return false
		}
		cost := 0.0
		if n.family.Price != nil {
			cost = n.family.Price(n.Model(), *e.Usage)
		}
		n.account.chargeStep(&n.family.budget, *e.Usage, cost)
		n.child.Update(func(r *transcript.ChildRecord) {
			r.Usage = r.Usage.Add(*e.Usage)
			r.Cost += cost
		})
		return true
	case transcript.ToolReady, transcript.ToolState, transcript.ToolFinished:
		return v.noteCall(e)
	}
	return false
}

func (v *view) noteCall(e transcript.Event) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := e.(type) {
	case transcript.ToolReady:
		if _, known := v.at[e.CallID]; known {
			return false
		}
		v.at[e.CallID] = len(v.lines)
		v.lines = append(v.lines, CardLine{Title: e.Card.Title, State: transcript.Queued})
		v.executions = append(v.executions, tools.Execution{CallID: e.CallID, Tool: e.Tool, Title: e.Card.Title, State: transcript.Queued})
		return false // it is shown when it runs or waits
	case transcript.ToolState:
		i, ok := v.at[e.CallID]
		if ok {
			v.lines[i].State, v.executions[i].State = e.State, e.State
		}
		return ok
	case transcript.ToolFinished:
		i, ok := v.at[e.CallID]
		if !ok {
			return false
		}
		delete(v.at, e.CallID)
		v.lines[i].State, v.lines[i].Result = e.State, brief(e)
		v.executions[i].State, v.executions[i].DurationMS = e.State, e.Result.Metadata.DurationMS
		if e.Card.Title != "" {
			v.lines[i].Title, v.executions[i].Title = e.Card.Title, e.Card.Title
		}
		for _, path := range e.Result.Metadata.TrackFiles {
			v.modified[path] = struct{}{}
		}
		v.node.account.chargeCall(&v.node.family.budget)
		v.node.child.Update(func(r *transcript.ChildRecord) { r.Calls++ })
		return true
	}
	return false
}

// brief says in a few words what came of a call.
func brief(e transcript.ToolFinished) string {
	if e.State != transcript.Done {
		first, _, _ := strings.Cut(e.Text, "\n")
		return first
	}
	lines := strings.Count(strings.TrimSpace(e.Text), "\n") + 1
	if strings.TrimSpace(e.Text) == "" {
		return ""
	}
	if lines == 1 {
		return strings.TrimSpace(e.Text)
	}
	return fmt.Sprintf("%d lines", lines)
}

// files are the absolute paths of the files that the subagent and those below it have
// changed.
func (v *view) files() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Sorted(maps.Keys(v.modified))
}

// closed is what came of a subagent that has ended.
func (n *Node) closed() *tools.Delegated {
	n.view.mu.Lock()
	executions := slices.Clone(n.view.executions)
	n.view.mu.Unlock()
	d := &tools.Delegated{Record: n.record(), Executions: executions, Modified: n.view.files()}
	d.Summary = summary(d)
	d.Card = Closing(d, n.view.shown(), n.family.Place)
	return d
}

// summary says in one line what a subagent did (R70).
func summary(d *tools.Delegated) string {
	r := d.Record
	text := fmt.Sprintf("%s after %s and %s", ended(r.State), count(r.Steps, "model call"), count(r.Calls, "tool call"))
	if n := len(d.Modified); n > 0 {
		text += ", " + count(n, "file") + " changed"
	}
	if total := r.Usage.Total(); total > 0 {
		text += fmt.Sprintf(", %d tokens", total)
	}
	return text
}

func ended(s transcript.ChildState) string {
	if s == transcript.ChildDone {
		return "ended"
	}
	return string(s)
}
