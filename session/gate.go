package session

import (
	"context"
	"slices"

	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
)

// gate answers what the pipeline of one agent asks of the session.
type gate struct {
	session *Session
	// node is the subagent whose pipeline asks, model the one that it uses; nil and "" for
	// the main agent.
	node  *subagent.Node
	model string
}

var _ pipeline.Session = gate{}

// Disabled implements pipeline.Session.
func (g gate) Disabled(tool string) (reason string, off bool) {
	if g.session.settings.Disabled == nil {
		return "", false
	}
	return g.session.settings.Disabled(tool)
}

// ModePolicy implements pipeline.Session.
func (g gate) ModePolicy() *pipeline.ModePolicy {
	mode := g.session.choices.get().mode
	policy := g.session.agents.modePolicy(mode)
	if g.node != nil {
		policy = g.session.agents.subagentModePolicy(mode)
	}
	return &policy
}

// ListedOnly implements pipeline.Session.
func (g gate) ListedOnly() bool {
	model := g.model
	if g.node == nil {
		model = g.session.choices.get().model
	}
	return g.session.choices.lastBackend().Provider.Describe(g.session.life.ctx, model).ListedOnly
}

// Hosts implements pipeline.Session. A subagent does not inherit the hosts that the user
// named in the main conversation (R64).
func (g gate) Hosts() []string {
	memory := g.session.conversation.log.Memory()
	if g.node != nil {
		memory = g.node.Log().Memory()
	}
	return slices.Concat(g.session.settings.Hosts, memory.Hosts)
}

// Net implements pipeline.Session.
func (g gate) Net(tool string) tools.Net {
	if g.session.host.Net == nil {
		return nil
	}
	return g.session.host.Net(tool)
}

// ConfirmTrust implements pipeline.Session.
func (g gate) ConfirmTrust() bool { return g.session.rules.project.confirmTrust() }

// StoresRules implements pipeline.Session.
func (g gate) StoresRules() bool { return g.session.host.Projects != nil }

// StoreRules implements pipeline.Session.
func (g gate) StoreRules(rules []permissions.Rule) error {
	return g.session.rules.project.storeRules(rules)
}

// AwaitUser implements pipeline.Session. The time of a subagent does not run while the
// user thinks.
func (g gate) AwaitUser(ctx context.Context) (resume func()) {
	if g.node == nil {
		return func() {}
	}
	return g.node.WaitForUser(ctx)
}

// Unconfined implements pipeline.Session (R124).
func (g gate) Unconfined(ctx context.Context) string {
	if g.session.spec.Unsandboxed {
		return ""
	}
	report, err := g.session.host.Sandbox.Wait(ctx)
	if err != nil || report.Confines() {
		return ""
	}
	return "this command is allowed, but nothing would confine it and no one is here to see it: " + noSandbox(report) +
		"; the one who starts the agent has to say that commands may run so (--unsandboxed)"
}
