package session

import (
	"slices"

	"acp-agent/internal/resultcache"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// pipeline makes the door through which the session's tool calls pass.
func (s *Session) pipeline() (*pipeline.Pipeline, error) {
	cache, err := resultcache.New(resultcache.Options{})
	if err != nil {
		return nil, err
	}
	p := pipeline.New(s.pipelineOptions(cache))
	return p, p.CheckVariables()
}

// pipelineOptions are those of the main agent's pipeline. Those of a subagent differ in
// what childOptions changes.
func (s *Session) pipelineOptions(cache *resultcache.Cache) pipeline.Options {
	h := s.host
	o := pipeline.Options{
		Caller: pipeline.Caller{Agent: s.agents.manifest.Name},
		Toolset: pipeline.Toolset{
			Registry: h.Registry, Requires: s.agents.manifest.Requires,
			Gate: tools.Gate{IncludeTools: s.agents.manifest.Tools, AllowMCP: true, AllowToolbox: true},
			Deferral: pipeline.Deferral{
				Threshold: s.settings.Threshold, Size: s.settings.ListedSize, Always: slices.Concat(kinds.Locked(), s.agents.manifest.Always, s.settings.Always),
			},
		},
		Judges:    pipeline.Judges{Policy: s.rules.policy, Watchdog: s.settings.Watchdog, Asker: s.spec.Asker, Line: s.spec.Line},
		Machine:   pipeline.Machine{Home: h.Home, UserData: []string{h.UserData}, Own: h.untouchable(), Keys: h.Keys, Dialect: h.Dialect},
		Observers: pipeline.Observers{Logger: h.Logger, Bus: h.Bus, Tracer: h.Tracer},
		Session:   pipelineSession{session: s}, Workspace: s.work, Limits: s.limits(), Cache: cache, Tape: h.Tape,
		Services: tools.Services{
			Memory: &memory{conversation: s.conversation}, Questions: s.questions(), Skills: skillsOf(s.briefing.context.skills), Languages: s.sources.languages,
			Modes: planModes{s.choices, s.conversation.record}, Agents: s.agents.node, Threads: threadsOf(s),
		},
	}
	if s.rules.audit != nil {
		o.Audit = s.rules.audit
	}
	return o
}

// limits are those of the settings, with what the client asks for this session.
func (s *Session) limits() tools.Limits {
	l := s.settings.Limits
	l.BashDefault = s.spec.CommandTimeout
	return l
}

func (s *Session) workspaceOptions(context systemContext) workspace.Options {
	h, spec := s.host, s.spec
	protected := func(path string) bool {
		return permissions.Protected(path, h.untouchable()...) != permissions.Unprotected
	}
	o := workspace.Options{
		SessionID: s.ID, Limits: s.limits(), IDs: h.IDs, Locks: &h.Locks,
		Guidance: func() []string { return context.instructions.Files },
		Directories: workspace.Directories{
			Cwd: spec.Cwd, Additional: spec.Additional, Home: h.Home, State: h.StateDir, Former: s.formerPlace(),
			Read: slices.Concat(s.settings.ReadRoots, context.skills.Dirs()), Write: s.settings.WriteRoots,
		},
		Protection: run.Protection{Secret: s.secrets.holds, Protected: protected, Hidden: s.secrets.masked},
		Commands: run.Options{
			Launcher: h.Launcher, Environ: h.Environ, Passed: s.settings.Environment, Secrets: h.Secrets(), GitPrograms: command.GitConfigSettings,
			Sandbox:   run.Sandboxing{Box: h.Box, Level: s.settings.Sandbox, Network: s.settings.Network},
			Terminals: spec.Terminals, Trial: spec.Trial,
		},
	}
	if s.settings.Editor {
		o.Editor.Files = spec.Editor
	}
	if s.conversation.recorder != nil {
		o.Keeping = workspace.Keeping{Contents: storedContents{h.Store, s.ID}, Records: s.conversation.recorder}
	}
	return o
}
