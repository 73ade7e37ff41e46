// Package loop runs one turn of an agent: prompt, model, tool calls, and again
// until the model has no more calls. Every agent, main or delegated, is run by
// this one loop (R133); what differs between agents is data.
//
// A turn emits a transcript stream and keeps nothing beside it: the messages
// of the next model request are what [transcript.Log] folded from the stream.
//
//	l := loop.New(loop.Options{Provider: provider, Tools: pipe, Log: log, Sink: sink, ...})
//	stop, err := l.Turn(ctx, &transcript.Message{ID: id, Role: transcript.User, Parts: parts})
//
// Before each request the loop estimates how full the window is, and compacts the conversation with
// package compaction when an answer would not fit.
//
// Cancelling ctx ends a turn at any point with [Cancelled] and no error, every
// open tool call closed. A failure of the model is an error and leaves what was
// said so far in the log (R142).
//
// Goroutines: the calls of one batch run on goroutines that Turn waits for; while the loop waits for
// the model, a timer notifies the user, see waiting.
//
// It imports compaction, model, transcript, tools/pipeline, kinds, internal/pause, internal/record and
// internal/trace. It depends neither on ACP nor on sessions.
//
// # Requirements
//
// R22, R100-R102, R132-R134, R137-R140, R142, R153, R154.
package loop
