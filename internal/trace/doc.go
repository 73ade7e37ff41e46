// Package trace writes what the agent did, and how long it took, as spans: one
// structured log record for each, under the names of OpenTelemetry.
//
// It owns the [Tracer], the [Span], and the names of spans and attributes. A
// span's record has trace_id, span_id and parent_span_id, so the tree of a
// session can be put together from the log by any program; attributes carry
// the names of OpenTelemetry's semantic conventions for generative AI
// (gen_ai.*), so a collector needs no translation. It refuses to know where
// records go, and to carry contents: no arguments, results, prompts, answers,
// or texts of errors.
//
// Tracing is off unless configured. Off is a nil [Tracer]: every method of it
// and of the nil [Span] it returns does nothing and allocates nothing.
//
//	tracer := trace.New(log)
//	ctx, span := tracer.Tool(ctx, "read", "call_1")
//	result, err := execute(ctx)
//	span.End(err)
//
// It imports the standard library and starts no goroutine.
//
// # Requirements
//
// R132 (spans session.run, session.turn, tool.call, compaction.run,
// permission.evaluate).
package trace
