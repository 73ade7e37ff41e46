package tools

import (
	"context"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Spawner hands work to subagents (R62). It belongs to one agent, which becomes the
// parent of the agents that it spawns.
type Spawner interface {
	// Spawn runs a subagent and waits for it, or with Background only until it is
	// accepted. An unknown type, too great a depth and a spent budget are *Errors.
	Spawn(ctx context.Context, d Delegation) (*Delegated, error)
	// Tasks lists the subagents of the whole session, in the order in which they were
	// wanted.
	Tasks() []transcript.ChildRecord
	// Lacks says in a few words why Spawn could only fail for a type of subagent, ""
	// being any; "" when it could not.
	Lacks(agent string) string
}

// Delegation is a piece of work for a subagent.
type Delegation struct {
	// CallID is the tool call that delegates.
	CallID string
	// Agent names the manifest of the subagent.
	Agent, Prompt string
	// Context is data for its system prompt; empty means that there is none (R62).
	Context string
	// Metadata are kept with its record.
	Metadata   map[string]any
	Background bool
}

// Delegated is what came of a Delegation (R70).
type Delegated struct {
	// Record is without messages. In the background it is that of a subagent which has
	// only been accepted.
	Record transcript.ChildRecord
	// Summary says in one line what it did.
	Summary string
	// Executions are its tool calls, those of its own subagents left to their records.
	Executions []Execution
	// Modified are the absolute paths of the files that it and its subagents changed.
	Modified []string
	// Card is the content of the card of the call that delegated.
	Card []kinds.Content
}

// Execution is a tool call of a subagent, as its parent is told of it.
type Execution struct {
	CallID     string           `json:"call_id"`
	Tool       string           `json:"tool"`
	Title      string           `json:"title"`
	State      transcript.State `json:"state"`
	DurationMS int64            `json:"duration_ms"`
}
