package pipeline

import (
	"log/slog"
	"slices"
	"time"

	"acp-agent/internal/observe"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// announce tells the subscribers of the bus that a call begins (R131).
func (r *running) announce() { r.publish(observe.ToolPre, "started", nil) }

// report tells them how it ended: every tool:pre is followed by exactly one
// tool:post or tool:error.
func (r *running) report(end transcript.ToolFinished) {
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

// publish publishes an event, and beside it the tool's own one for this stage
// when its module contributed that name.
func (r *running) publish(name, stage string, fields map[string]any) {
	bus := r.pipeline.Bus
	if !bus.Active() {
		return
	}
	e := observe.Event{
		Name: name, At: time.Now(), SessionID: r.pipeline.Workspace.Session().ID, CallID: r.ID, Tool: r.Tool, Fields: fields,
	}
	bus.Publish(e)
	if own := r.Tool + ":" + stage; slices.Contains(bus.Names(), own) {
		e.Name = own
		bus.Publish(e)
	}
}

// levelOf is the level of a call's log record: info for what was refused, debug
// for all else (R132); faults are logged where they happen. A refusal is the agent at work,
// and what the user refused is not news to them.
func levelOf(end transcript.ToolFinished) slog.Level {
	if end.State == transcript.Rejected && end.Result.Error.DeniedBy != tools.DeniedByUser {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}
