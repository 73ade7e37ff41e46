// Package pipeline runs every tool call, in the order of R20. [Pipeline.Prepare] takes a
// call through the stages that change nothing and ask no one, so that the loop can batch it by
// what it will really touch; [Pipeline.Run] does the rest. Each stage is a small function.
// Start with the two lists of stages in pipeline.go.
//
// A running call has a part for each group of stages: confinement, judgement, approval,
// execution and so on (running.go). A part has the fields that its stages share.
//
// The arguments of a call are parsed once and its paths are resolved once, when it is prepared.
// All stages up to the question use that result. After a question, and when a file is opened,
// the pipeline resolves the paths again and refuses a path that leads elsewhere by then.
//
// One question can cover several commands of a [Step], see sharedcard.go.
//
// The end of a call is one event, transcript.ToolFinished. Log, audit, bus and trace read it;
// the audit writes its record before the event goes on.
//
//	prepared := p.Prepare(pipeline.Call{ID: id, Name: "Read", Input: `{"path":"a.go"}`})
//	end := p.Run(ctx, prepared, sink) // a transcript.ToolFinished, whatever happened
//
// [Pipeline.Explain] takes a call through the same judging stages, and no further.
//
// A call that is refused, malformed, cancelled or out of time ends like any other: with one
// terminal state and an envelope (R5, R22, R125). The loop gets no Go error.
//
// A subagent has a pipeline of its own, whose [Options].Parent is that of the delegating agent.
// It has no tool and reaches nothing that its parent does not, and its [Policy] follows the
// parent's. All agents of a session ask one question at a time.
//
// Goroutines: Run executes the tool on a new goroutine, and before that its preview for the card.
// When the call is cancelled or out of time and the tool does not stop within a moment, Run returns
// without it. The pipeline drops the late result, and the session's next call waits until the
// goroutine has ended. Two more goroutines end before Run returns: the one that syncs the audit while
// a call starts (recordBegin), and in a replay the one that asks a recorded question.
//
// It imports tools and tools/bridge, workspace, workspace/run, workspace/undo,
// workspace/undo/journal, sandbox, permissions with permissions/command and permissions/watchdog,
// audit, capability, kinds, transcript, model, and of internal: bm25, egress, gitdir, network (forms of hosts),
// observe, packagehosts, pathname, record, redact, resultcache, search, shell, textcut and trace. It knows neither the
// loop nor ACP.
//
// # Requirements
//
// R4, R5, R8-R11, R13, R16-R22, R64, R73 (one question at a time), R87, R92, R103, R105-R106, R111-R118, R121-R126, R128-R132, R157.
package pipeline
