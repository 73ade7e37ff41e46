package store

import (
	"time"

	"acp-agent/transcript"
)

// version changes when older programs could misread newer files.
const version = 1

// Info describes a stored session without its conversation, for a list.
type Info struct {
	Version int    `json:"version"` // filled in
	ID      string `json:"id"`
	// ParentID and ParentMessageID name the session and message that spawned an inspectable
	// subagent (R69), and Agent its manifest.
	ParentID        string `json:"parent_id,omitempty"`
	ParentMessageID string `json:"parent_message_id,omitempty"`
	Agent           string `json:"agent,omitempty"`
	// ForkedFrom is the session that this one is a fork of.
	ForkedFrom string `json:"forked_from,omitempty"`
	// Cwd is the session's directory, and Additional are the others, absolute.
	Cwd        string   `json:"cwd"`
	Additional []string `json:"additional,omitempty"`
	Title      string   `json:"title,omitempty"`
	Mode       string   `json:"mode,omitempty"`
	// Model is the model that was called last.
	Model   string    `json:"model,omitempty"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Turn is the last turn, and Reason why it finished; "" while it runs, and of a turn whose
	// process ended before it did.
	Turn   string `json:"turn,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Messages counts the messages that were stored.
	Messages int `json:"messages"`
	// Turns counts the prompts among them.
	Turns int `json:"turns,omitempty"`
	// Usage is the sum of the steps' usage (R135), without subagents; Cost includes subagents. Used
	// and Size are the last known fill and size of the model's window.
	Usage transcript.Usage `json:"usage"`
	Cost  float64          `json:"cost,omitempty"`
	Used  int              `json:"used,omitempty"`
	Size  int              `json:"size,omitempty"`
}
