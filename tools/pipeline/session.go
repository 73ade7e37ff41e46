package pipeline

import (
	"context"

	"acp-agent/internal/packagehosts"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// Session is what a pipeline needs from the session whose calls it runs. Calls use it concurrently. No
// method may call back into the pipeline. Embed NoSession to implement only some of the methods.
type Session interface {
	// Disabled reports whether a tool is switched off, and why (R9).
	Disabled(tool string) (reason string, off bool)
	// ModePolicy returns the policy of the session's current mode. nil means that there is none; a
	// subagent then follows its parent. The pipeline does not change the value.
	ModePolicy() *ModePolicy
	// RequestPolicy is ModePolicy for the next request to the model.
	RequestPolicy() *ModePolicy
	// ListedOnly reports whether the model server takes only calls of tools that the request
	// lists. A tool that the model finds is then added to the end of the list, which voids the
	// server's prompt cache.
	ListedOnly() bool
	// Hosts returns the hosts named by the user or by a search, for permissions.VarGrantedHosts.
	Hosts() []string
	// Net returns the network for a tool; nil means that there is none.
	Net(tool string) tools.Net
	// ConfirmTrust reads the project again and reports whether the user trusts its current
	// content. It has an effect: when the trust has ended, it removes the rules of the project
	// from the policy, and stops or restarts what ran because of them. It takes longer than many
	// reads, so only calls to which trust matters use it.
	ConfirmTrust() bool
	// StoresRules reports whether StoreRules can store anything.
	StoresRules() bool
	// StoreRules stores rules for the project, from where they apply at once.
	StoreRules(rules []permissions.Rule) error
	// AwaitUser tells the session that a call waits for the user; the caller calls resume when the
	// wait is over.
	AwaitUser(ctx context.Context) (resume func())
	// PackageHosts returns the hosts that the user's own settings give to package managers, without
	// settings in the directories of projects.
	PackageHosts(projects []string) []packagehosts.Manager
	// WhyNotUnattended returns why commands must not run without a user to ask, even if a rule allows
	// them, which is that no sandbox confines them; "" means that they may (R124). It blocks until the
	// kind of sandbox of this machine is known, or ctx ends.
	WhyNotUnattended(ctx context.Context) (why string)
}

// NoSession is the Session of a pipeline without a session: no tool is switched off, there is no mode,
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

// WhyNotUnattended implements Session.
func (NoSession) WhyNotUnattended(context.Context) string { return "" }
