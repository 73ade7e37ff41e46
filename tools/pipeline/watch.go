package pipeline

import (
	"context"
	"runtime/debug"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
)

// watch asks the watchdog, which can only narrow what the rules answered
// (R121). Whatever goes wrong in it is a denial (E4).
func (r *running) watch(ctx context.Context) (err error) {
	if r.pipeline.Watchdog == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			r.pipeline.Logger.Error("watchdog panicked", "tool", r.Tool, "stack", string(debug.Stack()))
			err = &tools.Error{
				Kind: tools.Denied, DeniedBy: tools.DeniedByWatchdog, Message: "the watchdog failed, so the call was not run",
			}
		}
	}()
	verdict, err := r.pipeline.Watchdog.Judge(ctx, r.watched())
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
		r.watchdogReason = verdict.Reason
		return r.judge(ctx)
	}
	return nil
}

// watched is what the watchdog sees of the call.
func (r *running) watched() watchdog.Call {
	session := r.pipeline.Workspace.Session()
	call := watchdog.Call{
		SessionID: session.ID, CallID: r.ID, Tool: r.Tool, Args: r.Args, Agent: r.pipeline.Agent,
		IsSubagent: session.IsSubagent, Path: session.Path,
		Cwd: session.Cwd, Roots: session.Roots, Scratch: session.Scratch, Foreign: r.entry.Foreign(),
		Capabilities: r.judged.Capabilities, Resources: r.judged.Resources, Mode: r.pipeline.mode(),
	}
	for _, resource := range r.touched {
		if resource.Kind == tools.Command {
			call.Commands = append(call.Commands, watchdog.Command{Text: resource.Value, Env: r.commandEnv(resource, session)})
		}
	}
	return call
}

// heedWatchdog makes the rules' answer at least a question when the watchdog wants
// the user asked. That no "always" would end its asking is why none is offered.
func (r *running) heedWatchdog() {
	switch {
	case r.watchdogReason == "":
		return
	case r.decision.Action == capability.Allow:
		r.decision.Action, r.decision.Reason = capability.Ask, r.watchdogReason
		r.decision.Layer, r.decision.Rule, r.decision.Part = permissions.LayerWatchdog, nil, ""
	default:
		r.decision.Reason += "; " + r.watchdogReason
	}
	r.decision.Always, r.decision.ToAllow = nil, nil
	r.decision.NoAlways = "the watchdog asks each time"
}
