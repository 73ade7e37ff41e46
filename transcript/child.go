package transcript

import (
	"strings"
	"sync"
	"time"

	"acp-agent/kinds"
)

// ChildState is the state of a subagent.
type ChildState string

// The states of a subagent. The last four are terminal.
const (
	ChildQueued    ChildState = "queued"
	ChildRunning   ChildState = "running"
	ChildDone      ChildState = "done"
	ChildFailed    ChildState = "failed"
	ChildCancelled ChildState = "cancelled"
	// ChildLost is a subagent whose process ended before it did (R68).
	ChildLost ChildState = "lost"
)

// ChildStates lists the states of a subagent.
func ChildStates() []ChildState {
	return []ChildState{ChildQueued, ChildRunning, ChildDone, ChildFailed, ChildCancelled, ChildLost}
}

// Terminal reports whether no state can follow s.
func (s ChildState) Terminal() bool { return s != ChildQueued && s != ChildRunning }

// ChildRecord is the record of a subagent (R69): its agent, the call that spawned it, its state and, unless
// it is inspectable, its conversation.
type ChildRecord struct {
	// ID is the id of its session, which is stored as one of its own when it is Inspectable.
	ID string `json:"id"`
	// ParentID is the id of the session or subagent that spawned it, with the tool call
	// CallID of the message ParentMessageID.
	ParentID        string `json:"parent_id"`
	ParentMessageID string `json:"parent_message_id"`
	CallID          string `json:"call_id"`
	// Agent names its manifest. Path are the names of the agents from below the main agent down to
	// this one.
	Agent string   `json:"agent"`
	Path  []string `json:"path"`
	// Model is the model that it runs on.
	Model       string         `json:"model,omitempty"`
	Prompt      string         `json:"prompt"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Background  bool           `json:"background,omitempty"`
	Inspectable bool           `json:"inspectable,omitempty"`
	State       ChildState     `json:"state"`
	// AwaitsUser says that one of its calls waits for the user now. It is not stored.
	AwaitsUser bool `json:"-"`
	// Queued is when it was requested; Started and Ended are zero until it has started and ended.
	Queued  time.Time `json:"queued"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Steps and Calls count its model calls and tool calls, Usage its tokens, without those of its
	// own subagents.
	Steps int   `json:"steps,omitempty"`
	Calls int   `json:"calls,omitempty"`
	Usage Usage `json:"usage"`
	// Cost is what its model calls cost, in the currency of the configured prices; 0 when no price
	// is known.
	Cost float64 `json:"cost,omitempty"`
	// Output is its last message; Note says what ended it, if it did not end by itself.
	Output string `json:"output,omitempty"`
	Note   string `json:"note,omitempty"`
	// Messages are its conversation; nil when it is Inspectable, because its own session has them.
	Messages []*Message `json:"-"`
}

// PathText is a path of names of agents as users and models read it: "explore > fix".
func PathText(names []string) string { return strings.Join(names, " > ") }

// Elapsed is how long the subagent has run, until now if it has not ended. Before it has started, it is how
// long it has waited.
func (r ChildRecord) Elapsed(now time.Time) time.Duration {
	from, to := r.Started, now
	if from.IsZero() {
		from = r.Queued
	}
	if !r.Ended.IsZero() {
		to = r.Ended
	}
	return max(0, to.Sub(from))
}

// Child is a subagent's record while it lives. It is safe for concurrent use.
type Child struct {
	log *Log

	mu     sync.Mutex // guards what follows
	record ChildRecord
	end    kinds.Card
}

// NewChild returns a Child with the given record, whose conversation is log.
func NewChild(record ChildRecord, log *Log) *Child { return &Child{record: record, log: log} }

// Record returns the record as it is now, with the conversation unless it is Inspectable.
func (c *Child) Record() ChildRecord {
	record := c.Brief()
	if c.log != nil && !record.Inspectable {
		record.Messages = c.log.Record()
	}
	return record
}

// Brief returns the record as it is now, without the conversation.
func (c *Child) Brief() ChildRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record
}

// Update changes the record. change gets it without the conversation.
func (c *Child) Update(change func(*ChildRecord)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.record)
}

// SetEnd notes the card that the call which spawned the subagent has after its end.
func (c *Child) SetEnd(card kinds.Card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = card
}

// End returns the card that SetEnd noted; the zero value before that.
func (c *Child) End() kinds.Card {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end
}

// Messages returns the conversation, also of an inspectable subagent.
func (c *Child) Messages() []*Message {
	if c.log == nil {
		return c.Record().Messages
	}
	return c.log.Record()
}
