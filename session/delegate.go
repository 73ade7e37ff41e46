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

// newTree makes the tree of the session's agents.
func (s *Session) newTree() {
	h := s.host
	s.agents.tree, s.agents.node = subagent.NewTree(subagent.Options{
		Agents: func() subagent.Agents { return s.agents.manifests() }, Equip: s.equip,
		Depth: s.settings.Subagents.Depth, Running: s.settings.Subagents.Running, Budget: s.settings.Subagents.Budget,
		Price: s.settings.Subagents.Price, Deliver: s.deliver,
		IDs: h.IDs, Place: s.work.Session().Place, Logger: h.Logger,
	}, subagent.Root{ID: s.ID, Emit: s.conversation.record, MessageOf: s.conversation.log.MessageOf})
}

// equip gives a subagent what it works with: the session's workspace, within what the agent
// above it may use.
func (s *Session) equip(n *subagent.Node, d tools.Delegation) (subagent.Equipment, error) {
	backend, err := s.host.Backend()
	if err != nil {
		return subagent.Equipment{}, err
	}
	chosen, m := s.choices.get(), n.Manifest()
	e := subagent.Equipment{
		Provider: backend.Provider, Model: cmp.Or(m.Model, n.Parent().Model(), chosen.model),
		Temperature: cmp.Or(m.Limits.Temperature, backend.Temperature), MaxTokens: cmp.Or(m.Limits.MaxTokens, backend.MaxTokens),
		MaxSteps: s.settings.MaxSteps, Concurrent: s.settings.Limits.Concurrent, Tape: s.host.Tape, Tracer: s.host.Tracer,
		NoticeAfter: backend.NoticeAfter,
	}
	if err := backend.usable(e.Model); err != nil {
		return subagent.Equipment{}, err
	}
	if e.Model == chosen.model {
		e.ThoughtLevel = chosen.thought
	}
	e.Writers = func() []compaction.Writer { return s.writers(backend, e.Model, chargeChild(n)) }
	e.Window = func() int { return backend.Provider.Describe(s.life.ctx, e.Model).Window }
	o := s.childOptions(n, e.Model)
	e.Tools, e.Release = pipeline.New(o), o.Workspace.Release
	e.Remind = func() []transcript.Part { return s.briefing.remindIn(n.Log(), e.Tools, e.Window()) }
	environment := s.briefing.surroundings(e.Tools)
	environment.Context = d.Context
	e.System = m.System(environment)
	return e, e.Tools.CheckVariables()
}

// childOptions are those of a subagent's pipeline.
func (s *Session) childOptions(n *subagent.Node, model string) pipeline.Options {
	m, parent, name := n.Manifest(), n.Parent().Tools(), agentName(s.agents.manifest, n)
	o := s.pipelineOptions(parent.Cache)
	o.Registry = parent.Tools()
	o.Gate = tools.Gate{IncludeTools: m.Tools, AllowMCP: m.Tools == nil, AllowToolbox: true, SubagentType: m.Name}
	o.Requires = m.Requires
	o.Deferral.Always = slices.Concat(o.Deferral.Always, m.Tools, m.Always)
	o.Parent, o.Names, o.Session = parent, n.Names(), pipelineSession{s, n, model}
	o.Policy = s.agents.policyOf(n).policy
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

// deliver puts the message about a background subagent into the conversation: at once
// when the session is idle, after the turn that runs otherwise, and before any prompt
// that waits (R68). The message is for the model; text is shown to the user.
func (s *Session) deliver(message *transcript.Message, text string, after <-chan struct{}) {
	s.turns.add(&Turn{synthetic: &synthetic{message: message, text: text, after: after}})
}

// abortWait bounds how long the answer of a cancelled turn waits for subagents.
const abortWait = 2 * time.Second

// namedLiving bounds how many running subagents are named.
const namedLiving = 10

// endTurnForSubagents handles the subagents at the end of a turn and returns how it ended. If the
// turn was cancelled, even while this runs, it waits for them to end (R67); otherwise it names
// those that still run.
func (s *Session) endTurnForSubagents(ctx context.Context, stop loop.StopReason) loop.StopReason {
	if ctx.Err() == nil && !s.spec.Waits {
		s.noticeRunningSubagents()
	}
	if ctx.Err() == nil {
		return stop
	}
	ending, cancel := context.WithTimeout(context.Background(), abortWait)
	defer cancel()
	s.agents.tree.WaitAll(ending)
	return loop.Cancelled
}

func (s *Session) noticeRunningSubagents() {
	var names []string
	living := s.agents.tree.Active()
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
		s.conversation.say("Still running in the background: " + strings.Join(names, ", ") + ". `/tasks` lists and stops them.\n")
	}
}
