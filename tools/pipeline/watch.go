package pipeline

import (
	"context"
	"runtime/debug"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
)

// watchdogCheck asks the watchdog about a call.
type watchdogCheck struct {
	*sharedState
	judgement *judgement
}

// watch asks the watchdog, which can only narrow the answer of the rules (R121). A failure of the
// watchdog is a denial (E4).
func (w *watchdogCheck) watch(ctx context.Context) (err error) {
	if w.pipeline.Watchdog == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			w.pipeline.Logger.Error("watchdog panicked", "tool", w.Tool, "stack", string(debug.Stack()))
			err = &tools.Error{
				Kind: tools.Denied, DeniedBy: tools.DeniedByWatchdog, Message: "the watchdog failed, so the call was not run",
			}
		}
	}()
	verdict, err := w.pipeline.Watchdog.Judge(ctx, w.watched(ctx))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &tools.Error{
			Kind: tools.Denied, DeniedBy: tools.DeniedByWatchdog, Err: err,
			Message: "the watchdog failed, so the call was not run: " + err.Error(),
		}
	case verdict.Action == capability.Deny:
		return &tools.Error{Kind: tools.Denied, DeniedBy: tools.DeniedByWatchdog, Message: verdict.Reason}
	case verdict.Action == capability.Ask:
		w.judgement.watchdogReason = verdict.Reason
		return w.judgement.judge(ctx) // which applies the reason, as it does when it judges again before a question
	}
	return nil
}

// watched returns the call in the form that the watchdog judges.
func (w *watchdogCheck) watched(ctx context.Context) watchdog.Call {
	session := w.pipeline.Workspace.Session()
	call := watchdog.Call{
		SessionID: session.ID, CallID: w.ID, Tool: w.Tool, Args: w.Args, Agent: w.pipeline.Agent,
		IsSubagent: session.IsSubagent, Path: session.Path,
		Cwd: session.Cwd, Roots: session.Roots, Scratch: session.Scratch, Foreign: w.entry.Foreign(),
		Capabilities: w.judgement.judged.Capabilities, Resources: w.judgement.judged.Resources, Mode: w.pipeline.mode(),
	}
	for _, resource := range w.touched {
		if resource.Kind == tools.Command {
			call.Commands = append(call.Commands, watchdog.Command{Text: resource.Value, Env: w.judgement.commandEnv(ctx, resource, session)})
		}
	}
	return call
}

// applyWatchdog turns an allow of the rules into a question when the watchdog wants the user asked.
// It wants that each time, so the question offers no "always".
func (j *judgement) applyWatchdog() {
	switch {
	case j.watchdogReason == "":
		return
	case j.decision.Action == capability.Allow:
		j.decision.Action, j.decision.Reason = capability.Ask, j.watchdogReason
		j.decision.Layer, j.decision.Rule, j.decision.Part = permissions.LayerWatchdog, nil, ""
	default:
		j.decision.Reason += "; " + j.watchdogReason
	}
	j.decision.Always, j.decision.ToAllow = nil, nil
	j.decision.NoAlways = "the watchdog asks each time"
}
