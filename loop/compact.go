package loop

import (
	"context"
	"errors"
	"fmt"

	"acp-agent/compaction"
	"acp-agent/model"
	"acp-agent/transcript"
)

// makeRoom compacts the conversation when the next request would leave too little room for
// the answer (R139). It costs what came since the last request.
func (l *Loop) makeRoom(ctx context.Context) error {
	if l.Writers == nil {
		return nil
	}
	window := l.Window()
	if window <= 0 {
		return nil
	}
	fill := l.fill()
	if fill <= window/2 || fill <= l.tight { // before anything is looked up
		return nil
	}
	limit := l.limit(ctx, window)
	if fill <= limit || limit <= l.meter.Fixed { // no conversation is short enough for so small a window
		return nil
	}
	return l.compact(ctx, fill, limit)
}

// fill is how many tokens the next request takes.
func (l *Loop) fill() int {
	if l.meter.Fixed == 0 {
		l.meter.Fixed = compaction.Fixed(l.System, l.Tools.Catalog())
	}
	return l.meter.Fill(l.Log.Messages(), l.Model)
}

func (l *Loop) limit(ctx context.Context, window int) int {
	most := l.MaxTokens
	if most == 0 {
		most = l.Provider.Describe(ctx, l.Model).MaxOutput
	}
	return compaction.Limit(window, most)
}

// askInRoom is ask; a request that does not fit the window after all is made once more after a
// compaction (R139).
func (l *Loop) askInRoom(ctx context.Context) (*step, error) {
	s, err := l.ask(ctx)
	if err == nil || l.Writers == nil || ctx.Err() != nil || model.AsError(err).Kind != model.Overflow {
		return s, err
	}
	fill := l.fill()
	limit := fill / 2 // the server has less room than is known, or counts more
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
		l.tight = fill + fill/tightShare
		return nil
	case err != nil:
		return err
	case after > limit:
		l.tight = after + after/tightShare
		l.compactionNotice(fmt.Sprintf("Even compacted, the conversation fills about %d tokens of the model's window; the agent keeps it below %d.", after, limit))
	}
	l.remind() // what was summed up may still have to be told
	return nil
}

func (l *Loop) compactionNotice(text string) {
	l.emit(transcript.Notice{Severity: transcript.Warning, Title: "Compacting the conversation", Text: text})
}

// tightShare is the part by which a conversation that could not be made short enough has to
// grow before that is tried again.
const tightShare = 16

// Compact compacts the whole conversation because the user asks for it, between turns; words
// say what is to be kept in particular. It returns what filled the window before and after.
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
