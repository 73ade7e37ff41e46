package session

import (
	"cmp"
	"context"

	"acp-agent/compaction"
	"acp-agent/loop"
	"acp-agent/transcript"
)

// loop makes the loop of one turn.
func (s *Session) loop(ctx context.Context, backend Backend, chosen choice) *loop.Loop {
	window := func() int { return backend.Provider.Describe(ctx, chosen.model).Window }
	done := s.conversation.activity.prepare("the model server to describe its model")
	s.choices.awaitWindow(ctx, chosen.model, window)
	done()
	return loop.New(loop.Options{
		Provider: backend.Provider, Tools: s.agents.tools, Log: s.conversation.log, Sink: transcript.SinkFunc(s.conversation.emit), IDs: s.host.IDs,
		System: s.briefing.systemPrompt(ctx, window), Model: chosen.model, ThoughtLevel: chosen.thought,
		Temperature: cmp.Or(s.agents.manifest.Limits.Temperature, backend.Temperature),
		MaxTokens:   cmp.Or(s.agents.manifest.Limits.MaxTokens, backend.MaxTokens),
		Window:      window,
		MaxSteps:    cmp.Or(s.agents.manifest.Limits.Cycles, s.settings.MaxSteps), Concurrent: s.settings.Limits.Concurrent,
		CacheKey: s.ID, Memo: &s.conversation.memo, Tape: s.host.Tape, Tracer: s.host.Tracer, Remind: func() []transcript.Part { return s.briefing.remindIn(s.conversation.log, s.agents.tools, window()) }, NoticeAfter: backend.NoticeAfter,
		Writers: func() []compaction.Writer { return s.writers(backend, chosen.model, s.chargeMain) },
	})
}
