package pipeline

import (
	"context"

	"acp-agent/internal/packagehosts"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// Session is everything that a pipeline asks of the session whose calls it runs. Several
// calls ask at once, on goroutines of their own. No method may call back into the
// pipeline. NoSession has an answer for each, to embed where only some are of interest.
type Session interface {
	// Disabled reports whether a tool is switched off, and why (R9).
	Disabled(tool string) (reason string, off bool)
	// ModePolicy returns what the session's mode says now about tools and calls. nil means
	// nothing; a subagent then follows its parent. The pipeline does not change the value.
	ModePolicy() *ModePolicy
	// RequestPolicy is ModePolicy for the next request to the model.
	RequestPolicy() *ModePolicy
	// ListedOnly reports whether the model server takes only calls of tools that the request
	// lists. A tool that the model finds is then added to the end of the list, which costs
	// what the server has cached of the requests before.
	ListedOnly() bool
	// Hosts returns the hosts that the user or a search named, for permissions.VarGrantedHosts.
	Hosts() []string
	// Net returns the network for a tool; nil means that there is none.
	Net(tool string) tools.Net
	// ConfirmTrust reads the project again and reports whether the user trusts it as it is
	// now. It has an effect: when the trust has ended, it withdraws the rules of the project
	// from the policy and stops or restarts what ran because of them. It takes longer than
	// many a read, so only calls to which trust can matter ask for it.
	ConfirmTrust() bool
	// StoresRules reports whether StoreRules can store anything.
	StoresRules() bool
	// StoreRules stores rules for the project and puts them in force.
	StoreRules(rules []permissions.Rule) error
	// AwaitUser notes that a call starts to wait for the user; the caller calls resume when
	// the wait is over.
	AwaitUser(ctx context.Context) (resume func())
	// PackageHosts returns the hosts that the user's own settings give to package managers,
	// without what stands in the directories of projects.
	PackageHosts(projects []string) []packagehosts.Manager
	// Unconfined says, where no user can be asked, why commands must not run even if a rule
	// allows them; "" means that they may (R124). It blocks until the kind of sandbox of
	// this machine is known, or ctx ends.
	Unconfined(ctx context.Context) (why string)
}

// NoSession answers for a pipeline without a session: no tool is off, no mode is set,
// nothing is trusted, and nothing can be stored.
type NoSession struct{}

var _ Session = NoSession{}

// Disabled implements Session.
func (NoSession) Disabled(string) (string, bool) { return "", false }

// ModePolicy implements Session.
func (NoSession) ModePolicy() *ModePolicy { return nil }

// RequestPolicy implements Session.
func (NoSession) RequestPolicy() *ModePolicy { return nil }

// ListedOnly implements Session.
func (NoSession) ListedOnly() bool { return false }

// Hosts implements Session.
func (NoSession) Hosts() []string { return nil }

// Net implements Session.
func (NoSession) Net(string) tools.Net { return nil }

// ConfirmTrust implements Session.
func (NoSession) ConfirmTrust() bool { return false }

// StoresRules implements Session.
func (NoSession) StoresRules() bool { return false }

// StoreRules implements Session.
func (NoSession) StoreRules([]permissions.Rule) error { return nil }

// AwaitUser implements Session.
func (NoSession) AwaitUser(context.Context) func() { return func() {} }

// PackageHosts implements Session.
func (NoSession) PackageHosts([]string) []packagehosts.Manager { return nil }

// Unconfined implements Session.
func (NoSession) Unconfined(context.Context) string { return "" }
