package transcript

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"acp-agent/kinds"
)

// Role is the side from which a message comes.
type Role string

// The roles of a conversation. Tool results are parts of the assistant message
// that asked for them, not messages of their own.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one entry of a conversation. A finished message never changes (R135), so that values derived
// from it may be cached.
type Message struct {
	ID      string    `json:"id"`
	Role    Role      `json:"role"`
	Created time.Time `json:"created"`
	Parts   []Part    `json:"-"`
	// Digest is the SHA-256, in hexadecimal, of the system prompt of an assistant message (R138).
	Digest string `json:"digest,omitempty"`
	// Model is the model that wrote an assistant message.
	Model string `json:"model,omitempty"`
	// Origin is the provider and dialect of an assistant message, in a form that only the provider
	// reads. The Replay of its parts may only be sent back where the origin is the same; "" is an
	// unknown origin.
	Origin string `json:"origin,omitempty"`
	// Usage is the usage of the model call of an assistant message.
	Usage *Usage `json:"usage,omitempty"`
	// Finished says that no event will add to this message.
	Finished bool `json:"finished"`
	// Synthetic says that the agent, and not the model, wrote an assistant message, such as the end of
	// a subagent in the background. A request marks it as something that the model did not say (R68).
	Synthetic bool `json:"synthetic,omitempty"`
	// Clears says that a new conversation starts after this message, which has no text. No model sees
	// the messages before it.
	Clears bool `json:"clears,omitempty"`
	// Compaction says what a model still sees of the messages before this one; nil means all of them.
	Compaction *Compaction `json:"compaction,omitempty"`
	// Aside says that only the user sees the message, such as a slash command and its answer (R158).
	Aside bool `json:"aside,omitempty"`
}

// Part is a piece of a message: *TextPart, *ReasoningPart, *ImagePart,
// *LinkPart, *ResourcePart or *ToolPart.
type Part interface{ isPart() }

// TextPart is text of the user, the model or the agent.
type TextPart struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Synthetic says that the agent, and not the user, wrote the text: the model sees it, the editor
	// does not.
	Synthetic bool `json:"synthetic,omitempty"`
	// Replaced says that the model reads something else in place of the text, such as a prompt of an
	// MCP server in place of its command: the editor shows the text, the model does not see it (R158).
	Replaced bool `json:"replaced,omitempty"`
}

// ReasoningPart is a model's thinking. The editor shows it as thoughts; the provider from which it came sends
// it back if its server wants that.
type ReasoningPart struct {
	ID string `json:"id"`
	// Text is for the user. It is empty when the server sent only data, such as redacted or encrypted
	// reasoning.
	Text string `json:"text"`
	// Replay is what the server wants back unchanged, such as a signature: JSON that only the provider
	// of the message's Origin reads. It is sent to that server; it is not shown, and secrets are not
	// removed from it.
	Replay json.RawMessage `json:"replay,omitempty"`
}

// ImagePart is an image in a prompt, base64 encoded.
type ImagePart struct {
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
	URI       string `json:"uri,omitempty"`
	// Synthetic says that the agent added it, such as an image of an MCP server: the model sees it, the
	// editor does not.
	Synthetic bool `json:"synthetic,omitempty"`
}

// LinkPart refers to something that the prompt mentions, without its content (R159).
type LinkPart struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"media_type,omitempty"`
	Size        int64  `json:"size,omitempty"`
}

// ResourcePart is a text that the editor embedded in the prompt.
type ResourcePart struct {
	URI       string `json:"uri"`
	Text      string `json:"text"`
	MediaType string `json:"media_type,omitempty"`
}

// ToolPart is one tool call and, once it ended, its result.
type ToolPart struct {
	CallID string `json:"call_id"`
	// Name is what the model wrote; Tool is the canonical id (R19).
	Name string `json:"name"`
	Tool string `json:"tool"`
	// Input is the argument text as the model wrote it, valid JSON or not.
	Input string `json:"input"`
	// Complete says that the arguments arrived completely. Args are the arguments with which the call
	// ran: canonical, preprocessed, validated (R21). Args is null when there were none, and nil when
	// they are Input.
	Complete bool            `json:"complete,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	State    State           `json:"state"`
	// Card is what the editor shows.
	Card kinds.Card `json:"card"`
	// Result is set once State is terminal.
	Result *Envelope `json:"result,omitempty"`
	// Text is the result as the model reads it.
	Text string `json:"text,omitempty"`
	// Shown is what the card shows in place of Text; "" when that is the same.
	Shown string `json:"shown,omitempty"`
	// Printed is the output that the editor showed while the command of a call ran that was not done.
	// The model does not read it.
	Printed string `json:"printed,omitempty"`
	// Images are the images of the result.
	Images []ImagePart `json:"images,omitempty"`
	// Replay is what the server wants back unchanged with the call, as in ReasoningPart.
	Replay json.RawMessage `json:"replay,omitempty"`
	// Child is the subagent that the call spawned; nil for most calls.
	Child *Child `json:"-"`
}

func (*TextPart) isPart()      {}
func (*ReasoningPart) isPart() {}
func (*ImagePart) isPart()     {}
func (*LinkPart) isPart()      {}
func (*ResourcePart) isPart()  {}
func (*ToolPart) isPart()      {}

// Text joins the text parts that a model reads.
func (m *Message) Text() string {
	var b strings.Builder
	for _, part := range m.Parts {
		if text, ok := part.(*TextPart); ok && !text.Replaced {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// Typed joins the text parts that the user sees, also of a message of the agent.
func (m *Message) Typed() string {
	var b strings.Builder
	for _, part := range m.Parts {
		if text, ok := part.(*TextPart); ok && !text.Synthetic {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// Calls returns the message's tool calls in the order they were made.
func (m *Message) Calls() []*ToolPart {
	var calls []*ToolPart
	for _, part := range m.Parts {
		if call, ok := part.(*ToolPart); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// State is the state of a tool call (R125).
type State string

// The states of a tool call. The last four are terminal; a call enters exactly
// one of them, once.
const (
	Queued        State = "queued"
	BlockedOnUser State = "blocked-on-user"
	InProgress    State = "in-progress"
	Done          State = "done"
	Failed        State = "error"
	Cancelled     State = "cancelled"
	Rejected      State = "rejected-by-user"
)

// States are all states of a tool call, the terminal ones last.
func States() []State {
	return []State{Queued, BlockedOnUser, InProgress, Done, Failed, Cancelled, Rejected}
}

// Terminal reports whether no state can follow s.
func (s State) Terminal() bool {
	return slices.Contains([]State{Done, Failed, Cancelled, Rejected}, s)
}

// Envelope is the one result shape of every tool (R5). Type is "output" with
// Data, or "error" with ErrorText; never both.
type Envelope struct {
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data,omitempty"`
	ErrorText string          `json:"error_text,omitempty"`
	// Error is the structured part of an error (R6).
	Error    *ErrorDetail `json:"error,omitempty"`
	Metadata Metadata     `json:"metadata"`
}

// The two types of an envelope.
const (
	Output = "output"
	Error  = "error"
)

// ErrorDetail carries what a client may branch on.
type ErrorDetail struct {
	Kind         string `json:"kind,omitempty"`
	Code         string `json:"errorCode,omitempty"`
	AbsolutePath string `json:"absolutePath,omitempty"`
	// DeniedBy names who refused: "rule:" and a rule's scope, "user" for the
	// user, "headless", "enablement", "capability", "network" and others (R125).
	DeniedBy string `json:"deniedBy,omitempty"`
	// Type is the error's type in the words of a foreign tool, and Details what
	// else it said of its failure (R6).
	Type    string                     `json:"type,omitempty"`
	Details map[string]json.RawMessage `json:"details,omitempty"`
}

// Metadata accompanies every envelope.
type Metadata struct {
	DurationMS int64  `json:"duration_ms"`
	Truncated  bool   `json:"truncated,omitempty"`
	OutputPath string `json:"output_path,omitempty"`
	// TrackFiles are the absolute paths that the call changed (R129).
	TrackFiles []string `json:"track_files,omitempty"`
	// Unseen says where a command's changes were not looked for (R128).
	Unseen string `json:"unseen,omitempty"`
}

// Usage counts the tokens of one model call. Input excludes cached tokens and
// Output excludes reasoning, so that the five add up without double counting
// (R137).
type Usage struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning,omitempty"`
}

// Total is the number of tokens the call left in the model's context.
func (u Usage) Total() int {
	return u.Input + u.CacheRead + u.CacheWrite + u.Output + u.Reasoning
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
	}
}
