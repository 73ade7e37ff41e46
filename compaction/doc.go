// Package compaction makes the conversation of an agent fit the model's window again.
//
// It owns how full a window is ([Meter]), when a conversation is too long ([Limit]), and how it is
// compacted ([Job]): first the results of old tool calls are taken out; if that is not enough, a model
// writes a summary of all but the last messages. Without a model, the user's own words, the plan and the
// names of changed files are added to the summary, which must not lose them. Nothing is deleted: a
// compaction is an event that says what the model still sees ([transcript.Compaction]).
//
//	if fill := meter.Fill(messages, model); fill > compaction.Limit(window, maxOutput) {
//		job := compaction.Job{Log: log, Emit: emit, Writers: writers, ...}
//		err := job.Run(ctx)
//	}
//
// The loop decides when to compact, and the session which models write the summary. It imports
// transcript, model and internal/textcut, and starts no goroutine.
//
// # Requirements
//
// R61 (the plan outlives it), R137 (how full the window is), R139.
package compaction
