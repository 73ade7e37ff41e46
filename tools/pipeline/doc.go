// Package pipeline runs every tool call, in the order of R20. [Pipeline.Prepare] takes a
// call through the stages that change nothing and ask no one, so that the loop can batch it by
// what it will really touch; [Pipeline.Run] does the rest. Each stage is a small function
// on the call's state, and the two lists of stages in pipeline.go can be read from top to bottom.
//
// A call that runs has a part for each group of stages (running.go): confinement, judgement,
// approval, execution and so on. Each part has the fields of its stages.
//
// What a call says is parsed once, and what it touches is resolved once, when it is
// prepared; every stage up to the question shares that. After a question, and where a file
// is opened, the pipeline looks again: a path that leads elsewhere by then is refused.
//
// Commands of one [Step] that are asked about are one question, see together.go.
//
// The end of a call is one event, transcript.ToolFinished. Log, audit, bus and trace take
// what they need from it; the audit writes its record before the event goes on.
//
//	prepared := p.Prepare(pipeline.Call{ID: id, Name: "Read", Input: `{"path":"a.go"}`})
//	end := p.Run(ctx, prepared, sink) // a transcript.ToolFinished, whatever happened
//
// [Pipeline.Explain] takes a call through the stages that judge it, the same ones, and
// no further.
//
// A call that is refused, malformed, cancelled or out of time ends like any
// other: with one terminal state and an envelope (R5, R22, R125). Nothing here
// returns a Go error to the loop.
//
// A subagent has a pipeline of its own, with that of the agent which delegated to it as
// [Options].Parent: it has no tool and reaches nothing that its parent does not, its
// [Policy] follows its parent's, and the questions of all stand one at a time.
//
// Goroutines: Run executes the tool on a goroutine of its own. When the call is
// cancelled or out of time and the tool does not stop within a moment, Run
// answers without it; the goroutine is remembered, its late result is dropped,
// and the session's next call waits until it is gone.
//
// It imports tools and tools/bridge, workspace, workspace/run, workspace/undo,
// workspace/undo/journal, sandbox, permissions with permissions/command and permissions/watchdog,
// audit, capability, kinds, transcript, model, and of internal: bm25, network (forms of hosts),
// observe, pathname, redact, resultcache, search, shell, textcut and trace. It knows neither the
// loop nor ACP.
//
// # Requirements
//
// R4, R5, R8-R11, R13, R16-R22, R64, R73 (one question at a time), R87, R92, R103, R105-R106, R111-R118, R121-R126, R128-R132, R157.
package pipeline
