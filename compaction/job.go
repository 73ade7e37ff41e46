package compaction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"acp-agent/transcript"
)

// Job compacts a conversation once.
type Job struct {
	Log *transcript.Log
	IDs *transcript.IDs
	// Emit folds an event into Log and passes it on.
	Emit func(transcript.Event)
	// Writers are asked in turn, until one has written the summary. Without any, the facts that need
	// no model are the summary.
	Writers []Writer
	// Fixed, Fill and Limit are in tokens: what every request begins with, what the next one takes,
	// and what it may take. Window is the model's, 0 when it is not known.
	Fixed, Fill, Limit, Window int
	// Manual says that the user has asked for it: everything is summed up, and nothing changes when
	// no model can do so. Words name what the user wants the summary to keep.
	Manual bool
	Words  string
}

// ErrNothing says that there is nothing to compact.
var ErrNothing = errors.New("nothing of the conversation can be compacted")

const (
	// goalShare is how much of its room, in percent, the conversation may fill after results were
	// taken out; with more, the next compaction would come too soon.
	goalShare = 60
	// mostSummary bounds a summary, in tokens; in a small window it has at most a quarter of the
	// room.
	mostSummary = 4_000
	// leastRoom is what counts as the room, in tokens, where there is less.
	leastRoom = 1_024
)

// room is how many tokens the conversation may take.
func (j *Job) room() int { return max(j.Limit-j.Fixed, leastRoom) }

// Run compacts the conversation and returns the tokens that the next request takes after it. When it
// fails, the conversation is as it was: the error is ErrNothing, that of ctx, or the failure of the last
// writer if Manual is set.
func (j *Job) Run(ctx context.Context) (after int, err error) {
	messages := j.Log.Messages()
	goal := j.Fixed + j.room()*goalShare/100
	if !j.Manual {
		if calls, left := prune(messages, recentSteps, j.Fill, goal); len(calls) > 0 && left <= goal {
			id := j.start()
			return j.finish(id, &transcript.Compaction{Pruned: calls}, ""), nil
		}
	}
	head, tail := split(messages, j.budget())
	if !slices.ContainsFunc(head, func(m *transcript.Message) bool { return m.Compaction == nil }) {
		return j.pruneAll(messages, goal)
	}
	return j.condense(ctx, head, tail)
}

// budget is how many tokens the messages may take that are kept: a quarter of the window and of the
// conversation, and less in a small window, which needs room for the summary.
func (j *Job) budget() int {
	if j.Manual {
		return 0
	}
	return max(0, min(j.room()*3/8, max(j.Window, j.Limit)/tailShare, (j.Fill-j.Fixed)/tailShare))
}

// pruneAll takes out all results but those of the last step, when there is nothing to sum up.
func (j *Job) pruneAll(messages []*transcript.Message, goal int) (int, error) {
	calls, _ := prune(messages, 1, j.Fill, goal)
	if len(calls) == 0 {
		return j.Fill, ErrNothing
	}
	return j.finish(j.start(), &transcript.Compaction{Pruned: calls}, ""), nil
}

// condense replaces head by a summary.
func (j *Job) condense(ctx context.Context, head, tail []*transcript.Message) (int, error) {
	id := j.start()
	summary, err := j.summarize(ctx, head)
	switch {
	case ctx.Err() != nil:
		j.Emit(transcript.CompactionFailed{ID: id, Reason: "it was cancelled", Cancelled: true})
		return j.Fill, context.Cause(ctx)
	case err != nil && j.Manual:
		j.Emit(transcript.CompactionFailed{ID: id, Reason: reason(err)})
		return j.Fill, err
	case err != nil:
		j.say(fmt.Sprintf("The summary failed: %s. The agent goes on with your own words, the plan, the names of changed files and the last messages.", reason(err)))
	}
	f := factsOf(head, j.Log.Memory().Plan)
	size := min(mostSummary, j.room()/4) * bytesPerToken
	text := f.message(summary, size)
	c := &transcript.Compaction{Summary: true, Keep: ids(tail), Words: f.words, Files: f.files}
	goal := j.Fixed + j.room()*goalShare/100
	c.Pruned, _ = prune(tail, 1, j.Fixed+tokens(text)+ofAll(tail), goal)
	return j.finish(id, c, text), nil
}

// say tells the user that a model could not write the summary.
func (j *Job) say(text string) {
	j.Emit(transcript.Notice{Severity: transcript.Warning, Title: "Compacting the conversation", Text: text})
}

// start announces the compaction, and returns the id of its message.
func (j *Job) start() (id string) {
	id = j.IDs.New(transcript.MessagePrefix)
	j.Emit(transcript.CompactionStarted{ID: id})
	return id
}

// finish adds the compaction to the conversation, and returns the tokens that the next request takes.
func (j *Job) finish(id string, c *transcript.Compaction, text string) (after int) {
	m := &transcript.Message{ID: id, Role: transcript.Assistant, Created: time.Now(), Synthetic: true, Finished: true, Compaction: c}
	if c.Summary {
		m.Parts = []transcript.Part{&transcript.TextPart{ID: j.IDs.New(transcript.PartPrefix), Text: text, Synthetic: true}}
	}
	c.Manual = j.Manual
	c.Before, c.After = j.Fill, j.Fixed+ofAll(c.View(j.Log.Messages(), m))
	j.Emit(transcript.Compacted{Message: m})
	return c.After
}
