package session

import (
	"cmp"
	"context"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// loop makes the loop of one turn.
func (s *Session) loop(ctx context.Context, backend Backend, chosen choice) *loop.Loop {
	window := func() int { return backend.Provider.Describe(ctx, chosen.model).Window }
	s.awaitWindow(ctx, chosen.model, window)
	return loop.New(loop.Options{
		Provider: backend.Provider, Tools: s.tools, Log: s.log, Sink: transcript.SinkFunc(s.emit), IDs: s.host.IDs,
		System: s.systemPrompt(ctx, window), Model: chosen.model, ThoughtLevel: chosen.thought,
		Temperature: cmp.Or(s.manifest.Limits.Temperature, backend.Temperature),
		MaxTokens:   cmp.Or(s.manifest.Limits.MaxTokens, backend.MaxTokens),
		Window:      window,
		MaxSteps:    cmp.Or(s.manifest.Limits.Cycles, s.settings.MaxSteps), Concurrent: s.settings.Limits.Concurrent,
		CacheKey: s.ID, Memo: &s.memo, Tracer: s.host.Tracer, Remind: func() []transcript.Part { return s.remindIn(s.log, s.tools, window()) }, NoticeAfter: backend.NoticeAfter,
	})
}
