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
	// ModelBytes bounds the part of the result that the model is given, see
	// Pipeline.ModelBytes; 0 means no bound but the tool's own.
	ModelBytes int
	// Step holds the calls of the same answer; nil gives this call a card of its own.
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
	// Cut says that the model's answer ended in the middle of the call.
	Cut bool

	// What Prepare found out.

	// args are Args in parsed form, shared by all stages.
	args tools.Args
	// ignoredArgs names the model's arguments that have no effect, each with the reason.
	ignoredArgs []string
	// entry is the tool; nil when the name is unknown, when the call was cut, and in a replay that does
	// not run it again. standIn says that it replaces a tool whose server was not asked, see ExplainUnseen.
	entry   *tools.Entry
	standIn bool
	env     tools.Env
	// touched is what the call touches, targets where its paths lead, see resetTargets.
	touched []tools.Resource
	targets *targets
	// serial and keys decide which calls may run concurrently, see Conflicts.
	serial bool
	keys   []tools.ResourceKey
	// fault is the error of a stage of Prepare; a call that has one never runs.
	fault *tools.Error

	// What the calls of the same answer share, see sharedcard.go.

	// earlier is the user's answer on the card of an earlier call; nil when there is none.
	earlier *earlierAnswer
	// askAlone says that the call needs a card of its own.
	askAlone bool

	// tape records the call, or answers for it; nil where nothing is recorded.
	tape *record.Call
}

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

// Unrun returns the end of a card for which no tool ran: of a call that was stopped before, or of a question that the agent
// itself asked, whose end may be Done.
func Unrun(callID string, card kinds.Card, state transcript.State, text string) transcript.ToolFinished {
	end := transcript.ToolFinished{CallID: callID, State: state, Text: text, Card: card}
	kind := tools.Backend
	switch state {
	case transcript.Done:
		end.Result = transcript.Envelope{Type: transcript.Output}
		return end
	case transcript.Cancelled:
		kind = tools.Aborted
	case transcript.Rejected:
		kind = tools.Denied
	}
	end.Result = transcript.Envelope{Type: transcript.Error, ErrorText: text, Error: &transcript.ErrorDetail{Kind: string(kind)}}
	return end
}

// Cut returns the call that an answer was making when the token limit or a refusal ended it.
// Such a call is never executed.
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
