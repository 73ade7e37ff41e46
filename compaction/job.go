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
	// Emit folds an event into Log and shows it.
	Emit func(transcript.Event)
	// Writers write the summary, the first that can; none leave it to what needs no model.
	Writers []Writer
	// Fixed, Fill and Limit are in tokens: what each request begins with, what the next one
	// takes, and what it may take. Window is the model's, 0 when it is not known.
	Fixed, Fill, Limit, Window int
	// Manual says that the user asks for it: all is summed up, and nothing changes when no model
	// can. Words say what they want to be kept in particular.
	Manual bool
	Words  string
}

// ErrNothing says that there is nothing to compact.
var ErrNothing = errors.New("nothing of the conversation can be compacted")

const (
	// goalShare is the part, in percent, of the room for the conversation that it fills at most
	// after results were taken out; more would bring the next compaction too soon.
	goalShare = 60
	// mostSummary is the most that a summary takes, in tokens; in a small window it takes at
	// most a quarter of the room.
	mostSummary = 4_000
	// leastRoom is the least that is taken for the room, in tokens.
	leastRoom = 1_024
)

// room is what is left for the conversation.
func (j *Job) room() int { return max(j.Limit-j.Fixed, leastRoom) }

// Run compacts the conversation and returns what fills the window after it. The error is
// ErrNothing, the context's, or of a manual compaction the failure of the last writer; then
// the conversation is as it was.
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

// budget is what the messages that are kept may take: of the window and of the conversation
// as it is a quarter, and less in a small window, where the summary needs its part.
func (j *Job) budget() int {
	if j.Manual {
		return 0
	}
	return max(0, min(j.room()*3/8, max(j.Window, j.Limit)/tailShare, (j.Fill-j.Fixed)/tailShare))
}

// pruneAll takes out all results but those of the last step: there is nothing to sum up.
func (j *Job) pruneAll(messages []*transcript.Message, goal int) (int, error) {
	calls, _ := prune(messages, 1, j.Fill, goal)
	if len(calls) == 0 {
		return j.Fill, ErrNothing
	}
	return j.finish(j.start(), &transcript.Compaction{Pruned: calls}, ""), nil
}

// condense puts a summary in place of head.
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
	c.Pruned, _ = prune(tail, 1, j.Fixed+Tokens(text)+ofAll(tail), goal)
	return j.finish(id, c, text), nil
}

// say tells the user of a step down the ladder.
func (j *Job) say(text string) {
	j.Emit(transcript.Notice{Severity: transcript.Warning, Title: "Compacting the conversation", Text: text})
}

func (j *Job) start() (id string) {
	id = j.IDs.New(transcript.MessagePrefix)
	j.Emit(transcript.CompactionStarted{ID: id})
	return id
}

// finish makes the compaction a part of the conversation.
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
