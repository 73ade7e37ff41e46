package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"acp-agent/compaction"
	"acp-agent/loop"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// newTree makes the tree of the session's agents. deliver puts the message about a background
// subagent into the conversation.
func (a *assembler) newTree(deliver func(message *transcript.Message, text string, after <-chan struct{})) {
	h := a.host
	a.agents.tree, a.agents.node = subagent.NewTree(subagent.Options{
		Agents: func() subagent.Agents { return a.agents.manifests() }, Equip: a.equip,
		Depth: a.settings.Subagents.Depth, Running: a.settings.Subagents.Running, Budget: a.settings.Subagents.Budget,
		Price: a.settings.Subagents.Price, Deliver: deliver,
		IDs: h.IDs, Place: a.work.Session().Place, Logger: h.Logger,
	}, subagent.Root{ID: a.ID, Emit: a.conversation.record, MessageOf: a.conversation.log.MessageOf})
}

// equip gives a subagent what it works with: the session's workspace, within what the agent
// above it may use.
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
		return append(a.jobs.news(n.ID()), a.briefing.remindIn(n.Log(), e.Tools, e.Window())...)
	}
	environment := a.briefing.surroundings(e.Tools)
	environment.Context = d.Context
	e.System = m.System(environment)
	return e, e.Tools.CheckVariables()
}

// childOptions are those of a subagent's pipeline.
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
	o.Services.Modes, o.Services.Agents, o.Services.Await = nil, n, n.WaitForUser
	if o.Services.Questions != nil {
		o.Services.Questions = namedQuestions{o.Services.Questions, n}
	}
	return o
}

// agentName names an agent to a watchdog and to the audit: the names from the main agent down.
func agentName(main subagent.Manifest, n *subagent.Node) string {
	return strings.Join(append([]string{main.Name}, n.Names()...), "/")
}

// childMemory is what a subagent's tools remember. It is its own, but for what counts
// for the session as a whole (R80).
type childMemory struct {
	memory tools.Memory // the session's
	node   *subagent.Node
}

// Plan implements tools.Memory.
func (m *childMemory) Plan() []transcript.PlanEntry { return m.node.Log().Memory().Plan }

// SetPlan implements tools.Memory.
func (m *childMemory) SetPlan(entries []transcript.PlanEntry) {
	m.node.Emit(transcript.PlanChanged{Entries: slices.Clone(entries)})
}

// Count implements tools.Memory.
func (m *childMemory) Count(what string, limit int) (n int, ok bool) {
	return m.memory.Count(what, limit)
}

// NameHosts implements tools.Memory.
func (m *childMemory) NameHosts(hosts ...string) {
	if fresh := unknownHosts(hosts, m.node.Log().Memory().Hosts); len(fresh) > 0 {
		m.node.Emit(transcript.HostsNamed{Hosts: fresh})
	}
}

// abortWait bounds how long the answer of a cancelled turn waits for subagents.
const abortWait = 2 * time.Second

// namedLiving bounds how many running subagents are named.
const namedLiving = 10

// endForSubagents handles the subagents at the end of a turn and returns how it ended. If the
// turn was cancelled, even while this runs, it waits for them to end (R67); otherwise it names
// the ones that still run, and the jobs that the turn has started.
func (r *runningTurn) endForSubagents(stop loop.StopReason) loop.StopReason {
	if r.ctx.Err() == nil && !r.spec.Waits {
		r.noticeRunningSubagents()
		r.assembler.jobs.noticeBegun()
	}
	if r.ctx.Err() == nil {
		return stop
	}
	ending, cancel := context.WithTimeout(context.Background(), abortWait)
	defer cancel()
	r.agents.tree.WaitAll(ending)
	return loop.Cancelled
}

func (r *runningTurn) noticeRunningSubagents() {
	var names []string
	living := r.agents.tree.Active()
	for i, record := range living {
		if i == namedLiving {
			names = append(names, fmt.Sprintf("and %d more", len(living)-i))
			break
		}
		name := transcript.PathText(record.Path)
		if record.AwaitsUser {
			name += " (waits for your answer)"
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		r.conversation.say("Still running in the background: " + strings.Join(names, ", ") + ". `/tasks` lists and stops them.\n")
	}
}
