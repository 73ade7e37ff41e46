package tools

import (
	"context"

	"acp-agent/transcript"
)

// Asker puts a permission request to the user. Implementations answer
// Cancelled, or an error, when they cannot; they never invent a yes.
type Asker interface {
	Ask(ctx context.Context, req PermissionRequest) (Answer, error)
}

// PermissionRequest is what the user is asked (R152, O1).
type PermissionRequest struct {
	CallID string
	// Name is what the model called the tool.
	Name string
	// Ready is the call as it will run, with its preview in the card.
	Ready transcript.ToolReady
	// Reason says why it is asked, in one line.
	Reason string
	// Remember says what "always" would store, in one line; empty means that
	// nothing may be stored, and "always" is not offered.
	Remember string
	// Project says that the same may be stored for the project as well.
	Project bool
	// Agents are the names from below the main agent down to the subagent that asks;
	// none when the main agent does (R73).
	Agents []string
	// Choices, when set, names the only two answers, AllowOnce and RejectOnce, of a
	// decision that is about no call, such as trust in a project.
	Choices *Choices
	// NoAlways says why it is not offered, as the end of a sentence.
	NoAlways string
	// Sandbox says what the call's commands are confined by, and whether they have
	// the network; empty for a call that runs none.
	Sandbox string
	// Outside offers to run them outside of the sandbox, once.
	Outside bool
	// With are the requests about further commands of the same step, each as it would be asked
	// about by itself. The answer is for all of them; OneByOne is then one more.
	With []PermissionRequest
}

// Choices names the two answers of such a decision.
type Choices struct {
	// Question says in one line what accepting means, for clients that show the answers
	// without their names.
	Question      string
	Allow, Reject string
}

// Answer is a user's answer to a PermissionRequest (R123).
type Answer int

// The answers. The zero value refuses.
const (
	RejectOnce Answer = iota
	RejectAlways
	AllowOnce
	AllowAlways
	// AllowProject is AllowAlways for all sessions in this project.
	AllowProject
	// AllowOutside is AllowOnce, with the call's commands outside of the sandbox. It is an
	// answer to a request with Outside only.
	AllowOutside
	Cancelled
	// OneByOne wants a request of its own for each of several commands. It is an answer to a
	// request with With only, and allows none of them.
	OneByOne
)

// Allows reports whether the call may run.
func (a Answer) Allows() bool {
	return a == AllowOnce || a == AllowAlways || a == AllowProject || a == AllowOutside
}
