package pipeline

import (
	"encoding/json"

	"acp-agent/internal/pathname"
	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Call is a tool call as the model made it.
type Call struct {
	// ID is unique in the session.
	ID string
	// Name is what the model wrote; Input is the argument text it wrote.
	Name, Input string
	// Room is the most that the model is given of the result, in bytes, see Pipeline.Room;
	// 0 means no bound but the tools' own.
	Room int
	// Step holds the calls of the same answer; nil when this one is asked about by itself.
	Step *Step
}

// Prepared is a call that passed, or failed, the stages of Prepare.
type Prepared struct {
	Call
	// Tool is the canonical id, or Name when no tool has it.
	Tool string
	// Args are the arguments that will run (R21); nil when the call is faulty.
	Args json.RawMessage
	// Card is what the editor shows.
	Card kinds.Card
	// Malformed says that Input was not even JSON.
	Malformed bool
	// Cut says that the answer ended within the call.
	Cut bool

	// args are Args with what they decode to, which every stage shares.
	args tools.Args
	// leftOut says what of the model's arguments was left out, and why.
	leftOut []string
	// standIn says that entry stands in for a tool of a server that was not asked.
	standIn bool
	entry   *tools.Entry
	env     tools.Env
	// touched is what the call touches, targets where its paths lead, see resolveTargets.
	touched []tools.Resource
	targets *targets
	serial  bool
	keys    []tools.ResourceKey
	fault   *tools.Error
	// earlier is what the user answered about the call with another; nil for nothing. alone says that it is not to
	// be asked about with others.
	earlier *earlier
	alone   bool
	// tape records the call, or answers for it; nil where nothing is recorded.
	tape *record.Call
}

// Parses is how often the arguments have been parsed, see tools.Args.Parses.
func (p *Prepared) Parses() int { return p.args.Parses() }

// Conflicts reports whether the two calls must not run at the same time (R100,
// R102). A faulty call touches nothing.
func (p *Prepared) Conflicts(q *Prepared) bool {
	if p.fault != nil || q.fault != nil {
		return false
	}
	if p.serial || q.serial {
		return true
	}
	for _, a := range p.keys {
		for _, b := range q.keys {
			if (a.Write || b.Write) && overlap(a, b) {
				return true
			}
		}
	}
	return false
}

func overlap(a, b tools.ResourceKey) bool {
	return a.Key == b.Key || a.Tree && pathname.Contains(a.Key, b.Key) || b.Tree && pathname.Contains(b.Key, a.Key)
}

// CancelledText is what the model reads of a call that the user cancelled.
const CancelledText = "cancelled by the user"

// Unrun is the end of a call that never ran, with the card that it shows.
func Unrun(callID string, card kinds.Card, state transcript.State, text string) transcript.ToolFinished {
	kind := tools.Backend
	switch state {
	case transcript.Cancelled:
		kind = tools.Aborted
	case transcript.Rejected:
		kind = tools.Denied
	}
	return transcript.ToolFinished{
		CallID: callID, State: state, Text: text, Card: card,
		Result: transcript.Envelope{
			Type: transcript.Error, ErrorText: text, Error: &transcript.ErrorDetail{Kind: string(kind)},
		},
	}
}

// Cut is a call of an answer that ended too early, by the token limit or a
// refusal: it is never executed.
func Cut(call Call, tool string, card kinds.Card) *Prepared {
	return &Prepared{
		Call: call, Tool: tool, Cut: true, Card: card,
		fault: &tools.Error{
			Kind:    tools.BadInput,
			Message: "the answer ended before this call could be trusted to be complete, so it was not run",
			Hint:    "if the token limit was hit, make the call again in smaller pieces",
		},
	}
}
