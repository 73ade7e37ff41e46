package observe

import "time"

// The standard events (R131).
const (
	// ToolPre is published when a call begins; a ToolPost or a ToolError follows.
	// A call that is refused has both as well.
	ToolPre = "tool:pre"
	// ToolPost is published after a tool gave an output.
	ToolPost = "tool:post"
	// ToolError is published after a tool failed, or its call was refused.
	ToolError = "tool:error"
	// TurnStarted opens a turn.
	TurnStarted = "turn-started"
	// TurnFinished closes a turn. Its fields are those of [FinishedFields].
	TurnFinished = "turn-finished"
	// ApprovalRequested says that the user is being asked. It comes before
	// the TurnFinished of its turn.
	ApprovalRequested = "approval-requested"
)

// The keys of an event's fields.
const (
	// FieldMessageID is the message a turn answers, a string.
	FieldMessageID = "message_id"
	// FieldReason is why a turn ended: finish, abort or error.
	FieldReason = "reason"
	// FieldPendingApproval says whether a turn ended with a question open, a bool.
	FieldPendingApproval = "pending_approval"
)

// Event is something that happened. Fields that do not apply are empty.
type Event struct {
	// Name is one of the standard names or a contributed one.
	Name string
	// At is when it happened; zero means when it was published.
	At time.Time
	// SessionID, CallID and Tool say where. Tool is the canonical id.
	SessionID, CallID, Tool string
	// Fields is what else there is to say, values that encode as JSON. The
	// publisher must not change it afterwards; every subscriber gets a map of
	// its own.
	Fields map[string]any
}

// FinishedFields are the fields of a TurnFinished.
func FinishedFields(reason string, pendingApproval bool) map[string]any {
	return map[string]any{FieldReason: reason, FieldPendingApproval: pendingApproval}
}
