package session

import (
	"cmp"
	"context"

	"acp-agent/loop"
	"acp-agent/subagent"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// loop makes the loop of one turn.
func (s *Session) loop(ctx context.Context, backend Backend, chosen choice) *loop.Loop {
	return loop.New(loop.Options{
		Provider: backend.Provider, Tools: s.tools, Log: s.log, Sink: transcript.SinkFunc(s.emit), IDs: s.host.IDs,
		System: s.systemPrompt(), Model: chosen.model, ThoughtLevel: chosen.thought,
		Temperature: cmp.Or(s.manifest.Limits.Temperature, backend.Temperature),
		MaxTokens:   cmp.Or(s.manifest.Limits.MaxTokens, backend.MaxTokens),
		Window:      func() int { return backend.Provider.Describe(ctx, chosen.model).Window },
		MaxSteps:    cmp.Or(s.manifest.Limits.Cycles, s.settings.MaxSteps), Concurrent: s.settings.Limits.Concurrent,
		CacheKey: s.ID, Memo: &s.memo, Tracer: s.host.Tracer, Remind: s.remind, NoticeAfter: backend.NoticeAfter,
	})
}

// systemPrompt is the main agent's. It is made by the first turn, when it is known which
// agents there are, and never changes (R138).
func (s *Session) systemPrompt() string {
	if s.system == "" {
		s.system = s.manifest.System(s.surroundings(s.tools))
	}
	return s.system
}

// The tools without which an agent is not told of skills, and of other agents.
const (
	skillTool    = "skill"
	delegateTool = "task"
)

// surroundings are what an agent with these tools is told of where it works.
func (s *Session) surroundings(p *pipeline.Pipeline) subagent.Environment {
	has := func(id string) bool {
		entry, known := s.host.Registry.Get(id)
		return known && p.Why(entry) == ""
	}
	e := s.environment
	if !has(skillTool) {
		e.Skills = ""
	}
	if has(delegateTool) {
		e.Agents = s.Agents().Prompt()
	}
	return e
}
