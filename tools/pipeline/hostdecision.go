package pipeline

import (
	"errors"

	"acp-agent/audit"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// What decides about a host where neither a rule nor the user does, as records name it.
const (
	ByTimeout   = "timeout"
	ByNoOne     = "no one to ask"
	ByWithdrawn = "withdrawn" // the question ended with what reached for the host, or could not be shown
	ByList      = "its entry" // which lists the hosts of a server
	byWatchdog  = permissions.LayerWatchdog
)

// HostDecision is what was decided in the end about a host that a command or a program reached for, by the rules (whose
// part is a permissions.Decision), the watchdog or the user.
type HostDecision struct {
	// Err is nil for a host that is allowed, and a *egress.Refusal for one that is not. Any other error says why
	// nothing was decided.
	Err error
	// By names the answer, the rule, or one of the constants; Scope says how long an answer holds.
	By, Scope string
}

// Answered returns the decision of an answer, with what came of it.
func Answered(answer tools.Answer, err error) HostDecision {
	scope := "once"
	switch answer {
	case tools.AllowAlways, tools.RejectAlways:
		scope = "session"
	case tools.AllowProject:
		scope = "project"
	}
	return HostDecision{Err: err, By: "person: " + answerName(answer), Scope: scope}
}

// Record returns the part of its record that every decision has (R129).
func (d HostDecision) Record(to egress.Destination) audit.Record {
	record := audit.Record{Event: audit.Reached, Touches: []string{to.Pair()}, Verdict: "allow", By: d.By, Scope: d.Scope, Reason: "the connection is allowed"}
	if to.Addr.IsValid() { // to which the name leads; it is not public
		record.Touches = append(record.Touches, to.Addr.String())
	}
	if d.Err != nil {
		record.Verdict, record.Reason = "deny", "the connection is not made"
		if refusal, ok := errors.AsType[*egress.Refusal](d.Err); ok {
			record.Reason = refusal.Reason
		}
	}
	return record
}
