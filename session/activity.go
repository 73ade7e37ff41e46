package session

import (
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/transcript"
)

// activity is what the agents of a session are doing, folded from the events that the conversation
// passes on. /why reports it at any time, so it has a lock of its own and calls nothing under it. It is
// safe for concurrent use.
type activity struct {
	now func() time.Time

	mu   sync.Mutex // guards what follows
	main agentActivity
}

func newActivity(now func() time.Time) *activity { return &activity{now: now} }

// agentActivity is what one agent is doing. The zero value is idle.
type agentActivity struct {
	turn bool // a turn is running
	// preparing is what the turn waits for before its first model call; "" is nothing.
	preparing      string
	preparingSince time.Time
	compacting     time.Time // since when the conversation is compacted; zero when it is not

	model   string
	asked   time.Time // when the model was called; zero when no request is open
	last    time.Time // when the latest part of its answer came; zero before the first
	retry   string    // what failed, and when it is tried again; "" when nothing failed
	retryAt time.Time

	calls []*callActivity // that have not ended, in the order in which they started
}

// callActivity is what one tool call is doing.
type callActivity struct {
	id, tool string
	card     kinds.Card
	state    transcript.State
	reason   string    // why the user is asked
	since    time.Time // when state changed last
	output   string    // the last line of its output
	outputAt time.Time
	terminal bool // the editor's terminal shows the output
	// child is the subagent that the call spawned; nil when there is none. doing is the subagent's
	// activity.
	child *transcript.Child
	doing agentActivity
}

// note folds an event.
func (a *activity) note(e transcript.Event) {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.main.note(e, now)
}

// prepare notes what the turn waits for before its first model call, until done is called.
func (a *activity) prepare(what string) (done func()) {
	set := func(what string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.main.preparing, a.main.preparingSince = what, a.now()
	}
	set(what)
	return func() { set("") }
}

func (a *agentActivity) note(e transcript.Event, now time.Time) {
	switch e := e.(type) {
	case transcript.TurnStarted:
		a.turn = true
	case transcript.TurnFinished:
		a.turn, a.asked, a.retry, a.compacting = false, time.Time{}, "", time.Time{}
	case transcript.CompactionStarted:
		a.compacting = now
	case transcript.Compacted, transcript.CompactionFailed:
		a.compacting = time.Time{}
	case transcript.StepStarted:
		a.model, a.asked, a.last, a.retry = e.Model, now, time.Time{}, ""
	case transcript.StepFinished:
		a.asked = time.Time{}
	case transcript.PartStarted, transcript.PartDelta, transcript.PartReplay, transcript.PartEnded, transcript.ToolInput, transcript.ToolReplay:
		a.last = now
	case transcript.Notice:
		if e.Title == loop.RetryTitle {
			a.retry, a.retryAt = e.Text, now
		}
	default:
		a.noteCall(e, now)
	}
}

// noteCall folds an event of a tool call or of its subagent.
func (a *agentActivity) noteCall(e transcript.Event, now time.Time) {
	switch e := e.(type) {
	case transcript.ToolStarted:
		a.last = now
		a.calls = append(a.calls, &callActivity{id: e.CallID, tool: e.Tool, card: e.Card, state: transcript.Queued, since: now})
	case transcript.ToolReady:
		if c := a.call(e.CallID); c != nil {
			c.tool, c.card, c.since = e.Tool, e.Card, now
		}
	case transcript.ToolState:
		if c := a.call(e.CallID); c != nil {
			c.state, c.reason, c.since = e.State, e.Reason, now
		}
	case transcript.ToolOutput:
		if c := a.call(e.CallID); c != nil {
			c.print(e.Text, now)
		}
	case transcript.ToolTerminal:
		if c := a.call(e.CallID); c != nil {
			c.terminal = e.TerminalID != ""
		}
	case transcript.ToolFinished:
		if c := a.call(e.CallID); c != nil && (!e.Background || c.child == nil) { // /jobs has the jobs
			a.remove(e.CallID)
		}
	case transcript.ChildStarted:
		if c := a.call(e.CallID); c != nil {
			c.child = e.Child
		}
	case transcript.ChildEvent:
		if c := a.call(e.CallID); c != nil {
			c.doing.note(e.Event, now)
		}
	case transcript.ChildFinished:
		if c := a.call(e.CallID); c != nil && e.Child.Brief().Background {
			a.remove(e.CallID)
		} else if c != nil {
			c.child = nil // its result follows
		}
	}
}

// call is the call with an id; nil when it has ended.
func (a *agentActivity) call(id string) *callActivity {
	if i := slices.IndexFunc(a.calls, func(c *callActivity) bool { return c.id == id }); i >= 0 {
		return a.calls[i]
	}
	return nil
}

func (a *agentActivity) remove(id string) {
	a.calls = slices.DeleteFunc(a.calls, func(c *callActivity) bool { return c.id == id })
}

// outputBytes bounds what is kept of the output of a call.
const outputBytes = 1024

// print notes output, and keeps its last line with text.
func (c *callActivity) print(text string, now time.Time) {
	c.outputAt = now
	if len(text) > outputBytes {
		text = strings.ToValidUTF8(text[len(text)-outputBytes:], "")
	}
	text = c.output + text
	if trimmed := strings.TrimRight(text, "\r\n"); strings.TrimSpace(trimmed) != "" {
		start := strings.LastIndexAny(trimmed, "\r\n") + 1
		text = text[start:]
	}
	if len(text) > 2*outputBytes {
		text = strings.ToValidUTF8(text[len(text)-2*outputBytes:], "")
	}
	c.output = text
}
