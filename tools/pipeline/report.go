package pipeline

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"acp-agent/internal/observe"
	"acp-agent/internal/trace"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// reporter is the event stream of one call. The observers of the session (log, audit, bus and trace) see
// only these events. reporter passes each event on to next, after the audit has recorded it. A call
// starts to run when the record and the conversation are on the disk.
type reporter struct {
	*sharedState
	judgement *judgement
	approval  *approval
	execution *execution
	next      transcript.Sink
	span      *trace.Span
	// inProgress says that the event that the call is in progress has passed.
	inProgress atomic.Bool
}

// Emit implements transcript.Sink.
func (r *reporter) Emit(e transcript.Event) {
	switch e := e.(type) {
	case transcript.ToolState:
		if e.CallID == r.ID && e.State == transcript.InProgress && !r.inProgress.Swap(true) {
			defer r.recordBegin()() // the conversation syncs at the same time
		}
	case transcript.ToolFinished:
		r.log(e)
		r.recordEnd(e)
		defer r.trace(e)
		defer r.publishEnd(e)
	}
	r.next.Emit(e)
}

// log writes the one log record of a call.
func (r *reporter) log(end transcript.ToolFinished) {
	r.pipeline.Logger.Log(context.Background(), levelOf(end), "tool call", "call_id", r.ID, "tool", r.Tool, "state", end.State,
		"duration_ms", end.Result.Metadata.DurationMS)
}

// trace ends the call's span.
func (r *reporter) trace(end transcript.ToolFinished) {
	if detail := end.Result.Error; detail != nil {
		r.span.Fail(detail.Kind)
	}
	r.span.End(nil)
}

// publishEnd publishes how the call ended: every tool:pre is followed by exactly one
// tool:post or tool:error.
func (r *reporter) publishEnd(end transcript.ToolFinished) {
	fields := map[string]any{"state": string(end.State), "duration_ms": end.Result.Metadata.DurationMS}
	if end.State == transcript.Done {
		r.publish(observe.ToolPost, "completed", fields)
		return
	}
	if end.Result.Error != nil {
		fields["kind"] = end.Result.Error.Kind
	}
	r.publish(observe.ToolError, "error", fields)
}

// publish publishes an event, and in addition the tool's own event for this stage if its module
// contributed that name.
func (s *sharedState) publish(name, stage string, fields map[string]any) {
	bus := s.pipeline.Bus
	if !bus.Active() {
		return
	}
	e := observe.Event{
		Name: name, At: time.Now(), SessionID: s.pipeline.Workspace.Session().ID, CallID: s.ID, Tool: s.Tool, Fields: fields,
	}
	bus.Publish(e)
	if own := s.Tool + ":" + stage; slices.Contains(bus.Names(), own) {
		e.Name = own
		bus.Publish(e)
	}
}

// levelOf returns the level of a call's log record (R132): info for a refusal by rules, which the user may
// not know of, and debug for everything else. Faults are logged where they happen.
func levelOf(end transcript.ToolFinished) slog.Level {
	if end.State == transcript.Rejected && end.Result.Error.DeniedBy != tools.DeniedByUser {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}
