// Package compaction makes the conversation of an agent fit the model's window again.
//
// It owns how full a window is ([Meter]), from where on a conversation is compacted ([Limit]),
// and how ([Job]): first the results of old tool calls are taken out, then a model writes a
// summary of all but the last messages. What a summary must not lose is added to it without a
// model: the user's own words, the plan, and the files that were changed. Nothing is deleted:
// a compaction is an event that says what the model still sees ([transcript.Compaction]).
//
//	if fill := meter.Fill(messages, model); fill > compaction.Limit(window, maxOutput) {
//		job := compaction.Job{Log: log, Emit: emit, Writers: writers, ...}
//		err := job.Run(ctx)
//	}
//
// It does not know when a conversation is compacted, which is the loop's to say, and which
// model writes the summary, which is the session's. It imports transcript, model and
// internal/textcut, and starts no goroutine.
//
// # Requirements
//
// R61 (the plan outlives it), R137 (how full the window is), R139.
package compaction
