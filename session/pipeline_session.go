package session

import (
	"context"
	"slices"

	"acp-agent/internal/packagehosts"
	"acp-agent/internal/record"
	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
)

// pipelineSession implements pipeline.Session for one agent.
type pipelineSession struct {
	assembler *assembler
	// node is the subagent whose pipeline this is, and model its model; nil and "" for the main
	// agent.
	node  *subagent.Node
	model string
}

var _ pipeline.Session = pipelineSession{}

// Disabled implements pipeline.Session.
func (p pipelineSession) Disabled(tool string) (reason string, off bool) {
	if p.assembler.settings.Disabled == nil {
		return "", false
	}
	return p.assembler.settings.Disabled(tool)
}

// ModePolicy implements pipeline.Session.
func (p pipelineSession) ModePolicy() *pipeline.ModePolicy {
	return p.policyIn(p.assembler.choices.modes.now())
}

// RequestPolicy implements pipeline.Session.
func (p pipelineSession) RequestPolicy() *pipeline.ModePolicy {
	return p.policyIn(p.assembler.requestMode(p.node))
}

// requestMode is the mode in which an agent makes its next request; node is nil for the main agent. The user
// may change the mode at any point of a subagent's work, so a replay has the mode from the recording.
func (a *assembler) requestMode(node *subagent.Node) permissions.Mode {
	now := a.choices.modes.now
	if node == nil {
		return now()
	}
	mode, err := record.Ask(a.host.Tape, "mode of a request", a.ID+" "+node.Call(), func() (permissions.Mode, error) { return now(), nil })
	if err != nil {
		return now() // the recording is of an agent that did not ask
	}
	return mode
}

func (p pipelineSession) policyIn(mode permissions.Mode) *pipeline.ModePolicy {
	policy := p.assembler.agents.modePolicy(mode)
	if p.node != nil {
		policy = p.assembler.agents.subagentModePolicy(mode)
	}
	return &policy
}

// ListedOnly implements pipeline.Session.
func (p pipelineSession) ListedOnly() bool {
	model := p.model
	if p.node == nil {
		model, _ = p.assembler.choices.models.get()
	}
	return p.assembler.choices.models.server().Provider.Describe(p.assembler.life.ctx, model).ListedOnly
}

// Hosts implements pipeline.Session. A subagent does not inherit the hosts that the user
// named in the main conversation (R64).
func (p pipelineSession) Hosts() []string {
	memory := p.assembler.conversation.log.Memory()
	if p.node != nil {
		memory = p.node.Log().Memory()
	}
	return slices.Concat(p.assembler.settings.Hosts, memory.Hosts)
}

// Net implements pipeline.Session.
func (p pipelineSession) Net(tool string) tools.Net {
	if p.assembler.host.Net == nil {
		return nil
	}
	return p.assembler.host.Net(tool)
}

// ConfirmTrust implements pipeline.Session.
func (p pipelineSession) ConfirmTrust() bool { return p.assembler.rules.project.confirmTrust() }

// StoresRules implements pipeline.Session.
func (p pipelineSession) StoresRules() bool { return p.assembler.host.Projects != nil }

// StoreRules implements pipeline.Session.
func (p pipelineSession) StoreRules(rules []permissions.Rule) error {
	return p.assembler.rules.project.storeRules(rules)
}

// AwaitUser implements pipeline.Session. The time limit of a subagent stands still while the user thinks.
func (p pipelineSession) AwaitUser(ctx context.Context) (resume func()) {
	if p.node == nil {
		return func() {}
	}
	return p.node.WaitForUser(ctx)
}

// PackageHosts implements pipeline.Session.
func (p pipelineSession) PackageHosts(projects []string) []packagehosts.Manager {
	return packagehosts.Configured(p.assembler.host.Home, p.assembler.host.Environ, projects)
}

// WhyNotUnattended implements pipeline.Session (R124).
func (p pipelineSession) WhyNotUnattended(ctx context.Context) string {
	if p.assembler.spec.Unsandboxed {
		return ""
	}
	report, err := p.assembler.host.Sandbox.Wait(ctx)
	if err != nil || report.Confines() {
		return ""
	}
	return "this command is allowed, but nothing would confine it and no one is here to see it: " + noSandbox(report) +
		"; the one who starts the agent has to say that commands may run so (--unsandboxed)"
}
