package session

import (
	"cmp"
	"slices"
	"strings"

	"acp-agent/compaction"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// newTree makes the tree of the session's agents. deliver is called with the result of a background
// subagent, to put it into the conversation.
func (a *assembler) newTree(deliver func(message *transcript.Message, text string, after <-chan struct{})) {
	h := a.host
	a.agents.tree, a.agents.node = subagent.NewTree(subagent.Options{
		Agents: func() subagent.Agents { return a.agents.manifests() }, Equip: a.equip,
		Depth: a.settings.Subagents.Depth, Running: a.settings.Subagents.Running, Budget: a.settings.Subagents.Budget,
		Price: a.settings.Subagents.Price, Deliver: deliver,
		IDs: h.IDs, Tape: h.Tape, Place: a.work.Session().Place, Logger: h.Logger,
	}, subagent.Root{ID: a.ID, Emit: a.conversation.record, MessageOf: a.conversation.log.MessageOf})
}

// equip gives a subagent its model, prompt and tools. It works in the session's workspace, and may use
// no more than the agent above it.
func (a *assembler) equip(n *subagent.Node, d tools.Delegation) (subagent.Equipment, error) {
	backend, err := a.host.Backend()
	if err != nil {
		return subagent.Equipment{}, err
	}
	chosen, m := a.choices.get(), n.Manifest()
	e := subagent.Equipment{
		Provider: backend.Provider, Model: cmp.Or(m.Model, n.Parent().Model(), chosen.model),
		Temperature: cmp.Or(m.Limits.Temperature, backend.Temperature), MaxTokens: cmp.Or(m.Limits.MaxTokens, backend.MaxTokens),
		MaxSteps: a.settings.MaxSteps, Concurrent: a.settings.Limits.Concurrent, Tape: a.host.Tape, Tracer: a.host.Tracer,
		NoticeAfter: backend.NoticeAfter,
	}
	if err := backend.usable(e.Model); err != nil {
		return subagent.Equipment{}, err
	}
	if e.Model == chosen.model {
		e.ThoughtLevel = chosen.thought
	}
	e.Writers = func() []compaction.Writer { return a.writers(backend, e.Model, chargeChild(n)) }
	e.Window = func() int { return backend.Provider.Describe(a.life.ctx, e.Model).Window }
	o := a.childOptions(n, e.Model)
	e.Tools, e.Release = pipeline.New(o), o.Workspace.Release
	e.Remind = func() []transcript.Part {
		return append(a.jobs.news(n.ID()), a.briefing.remindIn(n.Log(), e.Tools, e.Window(), a.requestMode(n))...)
	}
	environment := a.briefing.surroundings(e.Tools)
	environment.Context = d.Context
	e.System = m.System(environment)
	return e, e.Tools.CheckVariables()
}

// childOptions are the options of a subagent's pipeline.
func (a *assembler) childOptions(n *subagent.Node, model string) pipeline.Options {
	m, parent, name := n.Manifest(), n.Parent().Tools(), agentName(a.agents.manifest, n)
	o := a.pipelineOptions(parent.Cache)
	o.Registry = parent.Tools()
	o.Gate = tools.Gate{IncludeTools: m.Tools, AllowMCP: m.Tools == nil, AllowToolbox: true, SubagentType: m.Name}
	o.Requires = m.Requires
	o.Deferral.Always = slices.Concat(o.Deferral.Always, m.Tools, m.Always)
	o.Parent, o.Names, o.Session = parent, n.Names(), pipelineSession{a, n, model}
	o.Policy = a.rules.below.of(m, n.Names(), parent.Policy).policy
	o.Workspace = parent.Workspace.Delegate(workspace.Delegate{Agent: name, Parent: n.Call(), Path: n.IDs()})
	o.Agent = name
	o.Services.Memory = &childMemory{memory: o.Services.Memory, node: n}
	o.Services.Modes, o.Services.Agents, o.Services.AwaitUser = nil, n, n.WaitForUser
	if o.Services.Questions != nil {
		o.Services.Questions = namedQuestions{o.Services.Questions, n}
	}
	return o
}

// agentName names an agent to a watchdog and to the audit: the names from the main agent down.
func agentName(main subagent.Manifest, n *subagent.Node) string {
	return strings.Join(append([]string{main.Name}, n.Names()...), "/")
}
