package session

import (
	"cmp"
	"context"

	"acp-agent/compaction"
	"acp-agent/loop"
	"acp-agent/transcript"
)

// loop makes the loop of one turn of the main agent.
func (a *assembler) loop(ctx context.Context, backend Backend, chosen choice) *loop.Loop {
	window := func() int { return backend.Provider.Describe(ctx, chosen.model).Window }
	done := a.conversation.activity.prepare("the model server to describe its model")
	a.choices.models.awaitWindow(ctx, chosen.model, window)
	done()
	return loop.New(loop.Options{
		Provider: backend.Provider, Tools: a.agents.tools, Log: a.conversation.log, Sink: transcript.SinkFunc(a.conversation.emit), IDs: a.host.IDs,
		System: a.briefing.systemPrompt(ctx, window), Model: chosen.model, ThoughtLevel: chosen.thought,
		Temperature: cmp.Or(a.agents.manifest.Limits.Temperature, backend.Temperature),
		MaxTokens:   cmp.Or(a.agents.manifest.Limits.MaxTokens, backend.MaxTokens),
		Window:      window,
		MaxSteps:    cmp.Or(a.agents.manifest.Limits.Cycles, a.settings.MaxSteps), Concurrent: a.settings.Limits.Concurrent,
		CacheKey: a.ID, Memo: &a.conversation.memo, Tape: a.host.Tape, Tracer: a.host.Tracer, NoticeAfter: backend.NoticeAfter,
		Remind: func() []transcript.Part {
			return a.briefing.remindIn(a.conversation.log, a.agents.tools, window(), a.requestMode(nil))
		},
		Writers: func() []compaction.Writer { return a.writers(backend, chosen.model, a.conversation.account.add) },
	})
}
