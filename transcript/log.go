package transcript

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Log folds a stream of events into messages. After each event it has the true state of the conversation at
// that moment (R142). It is safe for concurrent use.
type Log struct {
	mu       sync.Mutex // guards what follows
	messages []*Message
	start    int                  // the index of the first message after the last clear
	view     []*Message           // what a model sees
	hidden   map[string]string    // the hidden messages, with the MessageID of the Hidden that hid them
	parts    map[string]*growing  // open text and reasoning parts
	calls    map[string]*openCall // calls that have not ended
	memory   Memory
	sealed   bool
	now      func() time.Time
}

// growing collects deltas. It does not copy the whole text for each delta, because an answer can be large.
type growing struct {
	full []string
	last strings.Builder
	set  func(string)
	// reasoning is the part, if it is a ReasoningPart.
	reasoning *ReasoningPart
}

// pieceBytes is the size of the pieces of a growing text.
const pieceBytes = 64 << 10

func (g *growing) add(text string) {
	g.last.WriteString(text)
	if g.last.Len() >= pieceBytes {
		g.full = append(g.full, g.last.String())
		g.last.Reset()
	}
}

func (g *growing) text() string {
	if len(g.full) == 0 {
		return g.last.String()
	}
	return strings.Join(append(g.full, g.last.String()), "")
}

type openCall struct {
	part    *ToolPart
	message string // the id of its message
	input   strings.Builder
	printed Printed
}

// NewLog returns a Log whose record starts with the given messages.
func NewLog(messages ...*Message) *Log {
	l := &Log{messages: messages, hidden: map[string]string{}, parts: map[string]*growing{}, calls: map[string]*openCall{}, now: time.Now}
	l.rebuildView()
	return l
}

// Restore sets the state of an empty Log to a stored one. Calls that are still open continue with their next
// event.
func (l *Log) Restore(s Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages, l.memory = s.Messages, s.Memory.Clone()
	if l.hidden = maps.Clone(s.Hidden); l.hidden == nil {
		l.hidden = map[string]string{}
	}
	l.rebuildView()
	for _, m := range s.Messages {
		for _, call := range m.Calls() {
			if !call.State.Terminal() {
				l.calls[call.CallID] = &openCall{part: call, message: m.ID}
			}
		}
	}
}

// rebuildView makes the view from the record.
func (l *Log) rebuildView() {
	l.start, l.view = 0, nil
	for i, m := range l.messages {
		l.addToView(i, m)
	}
}

// addToView adds message i of the record to the view.
func (l *Log) addToView(i int, m *Message) {
	switch {
	case l.hidden[m.ID] != "":
	case m.Clears:
		l.start, l.view = i+1, nil
	case m.Aside:
	case m.Compaction != nil:
		l.view = m.Compaction.View(l.view, m)
	default:
		l.view = append(l.view, m)
	}
}

// add adds a message to the record and the view.
func (l *Log) add(m *Message) {
	l.messages = append(l.messages, m)
	l.addToView(len(l.messages)-1, m)
}

// Messages returns the conversation as a model sees it: since the last clear, and after compactions. Messages
// that are Finished are shared, and must not be changed.
func (l *Log) Messages() []*Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grow()
	return slices.Clone(l.view)
}

// Record returns all messages, including cleared and compacted ones. The same holds for them as for Messages.
func (l *Log) Record() []*Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grow()
	return slices.Clone(l.messages)
}

// grow brings the open parts up to date.
func (l *Log) grow() {
	for _, part := range l.parts {
		part.set(part.text())
	}
}

// Memory returns the memory of the session's tools.
func (l *Log) Memory() Memory {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.memory.Clone()
}

// OpenCalls returns the ids of calls that have not ended, in no order.
func (l *Log) OpenCalls() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := make([]string, 0, len(l.calls))
	for id := range l.calls {
		ids = append(ids, id)
	}
	return ids
}

// Waiting returns the calls that have not ended, in their order. Between two turns these are the calls that
// waited for the user when an earlier process ended (R141).
func (l *Log) Waiting() (calls []ToolPart) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) == 0 {
		return nil
	}
	for _, m := range l.messages {
		for _, call := range m.Calls() {
			if l.calls[call.CallID] != nil {
				calls = append(calls, *call)
			}
		}
	}
	return calls
}

// MessageOf returns the id of the message of an open call; "" when the call is not open.
func (l *Log) MessageOf(callID string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	call := l.calls[callID]
	if call == nil {
		return ""
	}
	return call.message
}

// Seal ends the conversation: later events do not change it.
func (l *Log) Seal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grow()
	clear(l.parts)
	l.sealed = true
}

// Apply folds one event into the conversation. Events that concern no message
// or name an unknown id change nothing.
func (l *Log) Apply(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sealed {
		return
	}
	switch e := e.(type) {
	case UserSaid:
		e.Message.Finished = true
		l.add(e.Message)
	case AgentSaid:
		e.Message.Finished = true
		l.add(e.Message)
	case Compacted:
		e.Message.Finished = true
		l.add(e.Message)
	case StepStarted:
		l.add(&Message{ID: e.MessageID, Role: Assistant, Created: e.At, Model: e.Model, Digest: e.Digest})
	case StepFinished:
		if m := l.message(e.MessageID); m != nil {
			m.Usage, m.Origin, m.Finished = e.Usage, e.Origin, len(l.calls) == 0
		}
	case StepDropped:
		l.drop(e.MessageID)
	case TurnWithdrawn:
		l.withdraw(e.MessageID)
	case Hidden:
		l.hide(e.MessageID)
	case Shown:
		maps.DeleteFunc(l.hidden, func(_, by string) bool { return by == e.MessageID })
		l.rebuildView()
	case Cleared:
		l.add(&Message{ID: e.MessageID, Role: Assistant, Created: e.At, Synthetic: true, Finished: true, Clears: true})
	case PartStarted:
		l.startPart(e)
	case PartDelta:
		if part := l.parts[e.PartID]; part != nil {
			part.add(e.Text)
		}
	case PartReplay:
		if part := l.parts[e.PartID]; part != nil && part.reasoning != nil {
			part.reasoning.Replay = e.Data
		}
	case PartEnded:
		if part := l.parts[e.PartID]; part != nil {
			part.set(part.text())
			delete(l.parts, e.PartID)
		}
	default:
		l.memory.Apply(e)
		l.applyCall(e)
	}
}

func (l *Log) applyCall(e Event) {
	switch e := e.(type) {
	case ToolStarted:
		part := &ToolPart{CallID: e.CallID, Name: e.Name, Tool: e.Tool, Card: e.Card, State: Queued}
		if m := l.message(e.MessageID); m != nil {
			m.Parts = append(m.Parts, part)
			l.calls[e.CallID] = &openCall{part: part, message: e.MessageID}
		}
	case ToolInput:
		if call := l.calls[e.CallID]; call != nil {
			call.input.WriteString(e.Delta)
		}
	case ToolReplay:
		if call := l.calls[e.CallID]; call != nil {
			call.part.Replay = e.Data
		}
	case ToolReady:
		if call := l.calls[e.CallID]; call != nil {
			call.part.Ready(e)
			call.input.Reset()
		}
	case ToolState:
		if call := l.calls[e.CallID]; call != nil {
			call.part.State = e.State
		}
	case ToolOutput:
		if call := l.calls[e.CallID]; call != nil {
			call.printed.Add(e.Text)
		}
	case ChildStarted:
		if call := l.calls[e.CallID]; call != nil {
			call.part.Child = e.Child
		}
	case ToolFinished:
		l.finishCall(e)
	}
}

// Ready sets what is known of a call when its arguments are complete.
func (p *ToolPart) Ready(e ToolReady) {
	p.Tool, p.Input, p.Card = e.Tool, e.Input, e.Card
	p.Complete, p.Args = true, nil
	switch {
	case e.Args == nil:
		p.Args = json.RawMessage("null")
	case string(e.Args) != e.Input:
		p.Args = e.Args
	}
}

func (l *Log) finishCall(e ToolFinished) {
	call := l.calls[e.CallID]
	if call == nil {
		return
	}
	delete(l.calls, e.CallID)
	if call.part.Input == "" {
		call.part.Input = call.input.String()
	}
	result := e.Result
	call.part.State, call.part.Card, call.part.Result = e.State, e.Card, &result
	call.part.Text, call.part.Shown, call.part.Images = e.Text, e.Shown, e.Images
	call.part.Printed = call.printed.At(e.State)
	if m := l.message(call.message); m != nil && len(l.calls) == 0 {
		m.Finished = true // found by its id, because the agent may have said something after it
	}
}

func (l *Log) startPart(e PartStarted) {
	m := l.message(e.MessageID)
	if m == nil {
		return
	}
	if e.Kind == ReasoningKind {
		part := &ReasoningPart{ID: e.PartID}
		m.Parts = append(m.Parts, part)
		l.parts[e.PartID] = &growing{set: func(s string) { part.Text = s }, reasoning: part}
		return
	}
	part := &TextPart{ID: e.PartID}
	m.Parts = append(m.Parts, part)
	l.parts[e.PartID] = &growing{set: func(s string) { part.Text = s }}
}

// message finds a message. It starts at the end, where most events look.
func (l *Log) message(id string) *Message {
	for i := len(l.messages) - 1; i >= 0; i-- {
		if l.messages[i].ID == id {
			return l.messages[i]
		}
	}
	return nil
}

func (l *Log) drop(id string) {
	for i := len(l.messages) - 1; i >= l.start; i-- {
		if l.messages[i].ID == id {
			l.messages = slices.Delete(slices.Clone(l.messages), i, i+1)
			l.view = slices.DeleteFunc(l.view, func(m *Message) bool { return m.ID == id })
			return
		}
	}
}

func (l *Log) withdraw(id string) {
	for i := l.start; i < len(l.messages); i++ {
		if l.messages[i].ID == id {
			l.messages = l.messages[:i:i]
			l.rebuildView()
			return
		}
	}
}

// hide hides a message, and those after it that are not hidden yet.
func (l *Log) hide(id string) {
	first := slices.IndexFunc(l.messages, func(m *Message) bool { return m.ID == id })
	if first < 0 {
		return
	}
	for _, m := range l.messages[first:] {
		if l.hidden[m.ID] == "" {
			l.hidden[m.ID] = id
		}
	}
	l.rebuildView()
}

// IsHidden reports whether a message is hidden, and whether it is in the record.
func (l *Log) IsHidden(id string) (hidden, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hidden[id] != "", l.message(id) != nil
}
