package model

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"acp-agent/transcript"
)

// Provider streams one assistant step at a time. It is safe for concurrent use
// by several sessions.
type Provider interface {
	// Stream asks the model for one step. The sequence ends after a chunk of
	// kind Finish, or with one error, which is a *Error (or the context's, when
	// ctx ended). Breaking out of the loop aborts the request.
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
	// Models lists the models the server offers, lazily and at most once per
	// call; servers that offer no list give an error.
	Models(ctx context.Context) ([]Info, error)
	// Probe asks the server for more than its list has of a model, where the server
	// has more; Describe has the answers afterwards. It returns warnings for the user.
	// It may take seconds.
	Probe(ctx context.Context, id string) (warnings []string, err error)
	// Describe tells what is known of a model without asking the network when
	// that is possible: its window, images, thought levels.
	Describe(ctx context.Context, id string) Info
}

// Info describes a model.
type Info struct {
	ID string
	// Name is shown to the user; empty means ID.
	Name string
	// Group is the heading under which it is listed; empty means none.
	Group string
	// Window is the context window in tokens; 0 means unknown.
	Window int
	// MaxOutput is the most tokens of one step; 0 means unknown.
	MaxOutput int
	// Images says whether the model takes images. They are sent unless it is No.
	Images Answer
	// TextCalls says that the model writes tool calls as text, and that its server does not
	// parse them.
	TextCalls bool
	// ListedOnly says that the server takes calls only of the tools in the request, and turns
	// other calls into text or an error.
	ListedOnly bool
	// ThoughtLevels are the reasoning efforts the model accepts, weakest first;
	// empty means that it has none to choose.
	ThoughtLevels []string
}

// Answer says whether something is so, as far as it is known.
type Answer int

// The answers.
const (
	Unknown Answer = iota
	Yes
	No
)

// Request is one step to be made.
type Request struct {
	Model    string
	System   string
	Messages []*transcript.Message
	Tools    []Tool
	// ThoughtLevel is one of Info.ThoughtLevels, or empty for the default.
	ThoughtLevel string
	// Temperature and MaxTokens are sent only when set (R66).
	Temperature *float64
	MaxTokens   int
	// CacheKey is stable for a session, so that providers can route its steps
	// to a warm prompt cache (R138). It tells nothing of the user.
	CacheKey string
	// Memo is scratch space of one conversation. A provider keeps there what
	// it derived from finished messages, so that a step costs only what is new.
	// nil means that nothing is kept.
	Memo *Memo
	// Patience, unless nil, is called with how long the server may be silent from now on
	// until the request is given up.
	Patience func(limit time.Duration)
}

// Memo holds a provider's encoding of a conversation's finished messages. It
// belongs to one conversation and is used by one step at a time.
type Memo struct{ Value any }

// Tool is a tool as the model sees it.
type Tool struct {
	Name        string
	Description string
	// Parameters is a JSON Schema object.
	Parameters json.RawMessage
}

// ChunkKind tells what a Chunk carries.
type ChunkKind int

// The kinds of chunks.
const (
	Text ChunkKind = iota
	Reasoning
	// ToolCall carries a piece of a tool call: the first of an Index has ID and
	// Name, later ones grow Arguments.
	ToolCall
	// Usage carries the tokens of the step, at most once.
	Usage
	// Finish is the last chunk.
	Finish
	// Warning is for the user and no part of the answer.
	Warning
)

// Chunk is one piece of a streamed step.
type Chunk struct {
	Kind ChunkKind
	// Text is set for Text and Reasoning; it is valid UTF-8 and never ends
	// within a character. It is what a Warning says, with Title above it.
	Text, Title string
	// Replay is set for Reasoning and ToolCall: JSON that the server wants back unchanged.
	// With Reasoning it is the last piece of a block of reasoning: what comes next opens
	// another. The block may have no text. With ToolCall the last of an Index counts.
	Replay json.RawMessage
	// Origin is the provider and dialect that write the step, set on the first chunk on
	// which it is known and on each that has a Replay. The last one counts.
	Origin string
	// Index numbers a step's tool calls from 0; ID is the provider's call id,
	// unique within the step and never empty; Arguments is a piece of text.
	Index     int
	ID, Name  string
	Arguments string
	// Usage is set for kind Usage.
	Usage *transcript.Usage
	// Reason is set for kind Finish.
	Reason FinishReason
	// Model is, for kind Finish, the model that the server says answered.
	Model string
}

// FinishReason says why a step ended.
type FinishReason string

// The finish reasons; an unknown one of a server becomes Stop, or ToolCalls
// when the step has calls.
const (
	Stop      FinishReason = "stop"
	ToolCalls FinishReason = "tool_calls"
	Length    FinishReason = "length"
	Refusal   FinishReason = "refusal"
)
