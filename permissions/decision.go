package permissions

import (
	"slices"

	"acp-agent/capability"
)

// Risk is the class of a call, for the card that a user sees. It is derived from the
// call itself; what the model says about its own call plays no part (E1).
type Risk string

// The classes, mildest first.
const (
	RiskNone      Risk = "none"      // nothing outside the session
	RiskRead      Risk = "read"      // reads files
	RiskNetwork   Risk = "network"   // reaches a host
	RiskWrite     Risk = "write"     // changes files
	RiskExecute   Risk = "execute"   // runs a program
	RiskProtected Risk = "protected" // changes files that govern other programs
	RiskDanger    Risk = "danger"    // matches a class that validation or policy names
)

// The layers that decide (E1), as explanations name them.
const (
	LayerSchema     = "schema"     // an unknown tool, or arguments that do not fit it
	LayerEnablement = "enablement" // the tool is switched off
	LayerCapability = "capability" // what the call names lies outside what it may reach
	LayerRules      = "rules"      // a rule, the shipped ones included
	LayerPolicy     = "policy"     // the command judge
	LayerProtected  = "protected"  // names that govern the agent or other programs
	LayerSecret     = "secret"     // files that hold secrets
	LayerWatchdog   = "watchdog"
)

// What a denial came from (R125's denied_by).
const (
	DeniedByRule      = "rule"
	DeniedByPolicy    = "policy"    // the command judge
	DeniedByProtected = "protected" // the agent's own files
	DeniedBySecret    = "secret"    // a file that holds secrets
	DeniedByHeadless  = "headless"  // an ask with no one to answer it
)

// SecretReason is the text given when a call would read a secret (R29).
const SecretReason = "Refusing to read env file. Reading secrets is not permitted."

// Decision is the answer to a call, with all that is needed to explain it.
type Decision struct {
	Action capability.Action
	Reason string // one plain sentence
	// Layer is the one that decided: LayerRules and the others.
	Layer string
	// Part is the piece of the call that decided: the piece of a command as it was
	// written, a resolved path, a host; empty when it was the call as a whole.
	Part string
	// Rule is the rule that decided, in Scope; nil when none did.
	Rule  *Rule
	Scope Scope
	// DeniedBy says what kind of check denied; empty unless Action is Deny.
	DeniedBy string
	Risk     Risk
	// Sandboxed says that some part is allowed only because a sandbox confines it.
	Sandboxed bool
	// Validation is set when no stored rule can turn the ask into an allow (R118).
	Validation bool
	// Always holds the narrowest rules that allow this call from now on; empty when
	// "always" must not be offered (E5) or would have no effect.
	Always []Rule
	// NoAlways says why an ask offers no "always"; empty when it does.
	NoAlways string
	// ToAllow lists what a user may choose to allow for a command: the full text, the
	// name of the command, "*" (R118). Empty for other calls and unless Action is Ask.
	ToAllow []string
}

// Headless returns the decision for a host without a user: an ask becomes a deny
// (R122). It never waits and never invents an answer.
func Headless(d Decision) Decision {
	if d.Action != capability.Ask {
		return d
	}
	d.Action = capability.Deny
	d.DeniedBy = DeniedByHeadless
	d.Reason += "; there is no one to ask, so the call is denied (headless)"
	d.Always, d.ToAllow, d.NoAlways = nil, nil, ""
	return d
}

// rank orders the classes, the mildest first.
func (r Risk) rank() int {
	return slices.Index([]Risk{RiskNone, RiskRead, RiskNetwork, RiskWrite, RiskExecute, RiskProtected, RiskDanger}, r)
}
