package loop

import (
	"context"
	"errors"
	"fmt"

	"acp-agent/compaction"
	"acp-agent/model"
	"acp-agent/transcript"
)

// makeRoom compacts the conversation when the next request would leave too little room for the answer
// (R139). Its cost depends on what was added since the last request, not on the whole conversation.
func (l *Loop) makeRoom(ctx context.Context) error {
	if l.Writers == nil {
		return nil
	}
	window := l.Window()
	if window <= 0 {
		return nil
	}
	fill := l.fill()
	if fill <= window/2 || fill <= l.retryAbove { // before the provider is asked for the limit
		return nil
	}
	limit := l.limit(ctx, window)
	if fill <= limit || limit <= l.meter.Fixed { // no conversation is short enough for so small a window
		return nil
	}
	return l.compact(ctx, fill, limit)
}

// fill is about how many tokens the next request takes.
func (l *Loop) fill() int {
	if l.meter.Fixed == 0 {
		l.meter.Fixed = compaction.Fixed(l.System, l.Tools.Catalog())
	}
	return l.meter.Fill(l.Log.Messages(), l.Model)
}

// limit is the fill above which the conversation is compacted.
func (l *Loop) limit(ctx context.Context, window int) int {
	most := l.MaxTokens
	if most == 0 {
		most = l.Provider.Describe(ctx, l.Model).MaxOutput
	}
	return compaction.Limit(window, most)
}

// askInRoom is ask. If the request does not fit the window although makeRoom expected it to, it
// compacts the conversation and asks once more (R139).
func (l *Loop) askInRoom(ctx context.Context) (*step, error) {
	s, err := l.ask(ctx)
	if err == nil || l.Writers == nil || ctx.Err() != nil || model.AsError(err).Kind != model.Overflow {
		return s, err
	}
	fill := l.fill()
	limit := fill / 2 // the window is smaller than is known, or the server counts more tokens
	if window := l.Window(); window > 0 {
		limit = min(limit, l.limit(ctx, window))
	}
	if _, failure := l.runCompaction(ctx, compaction.Job{Fill: fill, Limit: limit}); failure != nil {
		if errors.Is(failure, compaction.ErrNothing) {
			return nil, err
		}
		return nil, failure
	}
	l.compactionNotice("The request did not fit the model's window. The conversation was compacted, and the request is made once more.")
	l.remind()
	return l.ask(ctx)
}

// compact makes the conversation shorter. Only a cancelled compaction is an error.
func (l *Loop) compact(ctx context.Context, fill, limit int) error {
	after, err := l.runCompaction(ctx, compaction.Job{Fill: fill, Limit: limit})
	switch {
	case errors.Is(err, compaction.ErrNothing):
		l.retryAbove = fill + fill/retryShare
		return nil
	case err != nil:
		return err
	case after > limit:
		l.retryAbove = after + after/retryShare
		l.compactionNotice(fmt.Sprintf("Even compacted, the conversation fills about %d tokens of the model's window; the agent keeps it below %d.", after, limit))
	}
	l.remind() // reminders that were summed up may still hold
	return nil
}

func (l *Loop) compactionNotice(text string) {
	l.emit(transcript.Notice{Severity: transcript.Warning, Title: "Compacting the conversation", Text: text})
}

// retryShare is the part by which a conversation that could not be made short enough has to grow before
// another compaction is tried.
const retryShare = 16

// Compact compacts the whole conversation for the user, between turns; words name what the summary has
// to keep. It returns the tokens that the conversation took before and after.
func (l *Loop) Compact(ctx context.Context, words string) (before, after int, err error) {
	before = l.fill()
	window := l.Window()
	limit := before
	if window > 0 {
		limit = l.limit(ctx, window)
	}
	after, err = l.runCompaction(ctx, compaction.Job{Fill: before, Limit: limit, Manual: true, Words: words})
	return before, after, err
}

func (l *Loop) runCompaction(ctx context.Context, job compaction.Job) (after int, err error) {
	ctx, span := l.Tracer.Compaction(ctx)
	defer func() { span.End(err) }()
	job.Log, job.IDs, job.Emit, job.Writers = l.Log, l.IDs, l.emit, l.Writers()
	job.Fixed, job.Window = l.meter.Fixed, l.Window()
	if after, err = job.Run(ctx); err != nil {
		return after, err
	}
	l.meter.Reset()
	l.used = after
	l.emit(transcript.UsageChanged{Used: after, Size: job.Window})
	return after, nil
}
