package session

import (
	"slices"

	"acp-agent/internal/resultcache"
	"acp-agent/internal/shell"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
)

// assembler gives the agents of a session what they run with: the main agent its pipeline (this
// file) and its loop (loop.go), subagents their equipment (delegate.go), and internal agents a
// model without tools (internal_agents.go, compact.go). It is safe for concurrent use.
type assembler struct {
	opened
	conversation *conversation
	choices      *choices
	rules        *ruleBook
	sources      *sources
	agents       *agents
	briefing     *briefing // the system prompt and the reminders; briefing.go
	jobs         *jobs     // commands in the background; jobs.go
}

// pipeline makes the door through which the main agent's tool calls pass.
func (a *assembler) pipeline() (*pipeline.Pipeline, error) {
	cache, err := resultcache.New(resultcache.Options{})
	if err != nil {
		return nil, err
	}
	p := pipeline.New(a.pipelineOptions(cache))
	return p, p.CheckVariables()
}

// pipelineOptions are the options of the main agent's pipeline. childOptions changes them for a
// subagent.
func (a *assembler) pipelineOptions(cache *resultcache.Cache) pipeline.Options {
	h := a.host
	o := pipeline.Options{
		Caller: pipeline.Caller{Agent: a.agents.manifest.Name},
		Toolset: pipeline.Toolset{
			Registry: h.Registry, Requires: a.agents.manifest.Requires,
			Gate: tools.Gate{IncludeTools: a.agents.manifest.Tools, AllowMCP: true, AllowToolbox: true},
			Deferral: pipeline.Deferral{
				Threshold: a.settings.Threshold, Size: a.settings.ListedSize, Always: slices.Concat(kinds.Locked(), a.agents.manifest.Always, a.settings.Always),
			},
		},
		Judges:    pipeline.Judges{Policy: a.rules.policy, Watchdog: a.settings.Watchdog, Asker: a.spec.Asker, Queue: a.spec.Queue},
		Machine:   pipeline.Machine{Home: h.Home, UserData: []string{h.UserData}, Own: h.untouchable(), Keys: h.Keys, Dialect: h.Dialect, Encoding: shell.EncodingOf(h.Environ)},
		Observers: pipeline.Observers{Logger: h.Logger, Bus: h.Bus, Tracer: h.Tracer},
		Session:   pipelineSession{assembler: a}, Workspace: a.work, Limits: a.limits(), Cache: cache, Tape: h.Tape,
		Services: tools.Services{
			Memory: &memory{conversation: a.conversation}, Questions: questionsOf(a.spec, a.conversation), Skills: skillsOf(a.briefing.context.skills), Languages: a.sources.languages,
			Modes: planModes{a.choices.modes, a.conversation.record}, Agents: a.agents.node, Threads: threadsOf(a.opened),
		},
	}
	if a.rules.audit != nil {
		o.Audit = a.rules.audit
	}
	return o
}
