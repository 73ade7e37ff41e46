package pipeline

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/observe"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// maxPreviews is how often a user is asked about one call whose preview goes
// on changing while they look at it.
const maxPreviews = 3

// ask puts the call to the user when the rules say so. What the user approves is what runs: the
// preview is made again after the answer, and a call that would now do something else is asked
// about again (E6, R41).
func (r *running) ask(ctx context.Context) error {
	preview, err := r.preview(ctx)
	if err != nil {
		return err
	}
	r.card.Content = preview
	if r.decision.Action == capability.Allow {
		return r.unattended(ctx)
	}
	r.noticeUnconfined()
	if r.pipeline.Asker == nil {
		return r.refused(permissions.Headless(r.decision))
	}
	defer r.pipeline.Session.AwaitUser(ctx)()
	return tools.InLine(ctx, r.pipeline.Line, r.ID, func(asking context.Context) error { return r.askUntilShown(ctx, asking) })
}

// askUntilShown asks until what the user saw is what the call will do.
func (r *running) askUntilShown(ctx, asking context.Context) error {
	for i := range maxPreviews {
		if i > 0 {
			r.resolveTargets(r.pipeline) // what was shown has changed, so its paths may lead elsewhere
		} else if err := r.refreshTargets(ctx); err != nil {
			return err
		}
		// An answer given while this call waited may have settled it (R123).
		if err := r.judge(ctx); err != nil {
			return err
		}
		if r.decision.Action == capability.Allow {
			return nil
		}
		if err := r.askOnce(ctx, asking); err != nil {
			return err
		}
		again, err := r.preview(ctx)
		if err != nil {
			return err
		}
		if reflect.DeepEqual(again, r.card.Content) && r.unchanged() {
			return nil
		}
		r.card.Content = again
	}
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByUser,
		Message: "what this call does kept changing while the user was looking at it, so it was not run",
	}
}

// preview computes what the call would show, without changing anything (R152).
func (r *running) preview(ctx context.Context) ([]kinds.Content, error) {
	if r.entry.Preview == nil {
		return nil, nil
	}
	runtime, err := r.pipeline.runtimeOf(r.Prepared, r.ID+"/preview", transcript.Discard)
	if err != nil {
		return nil, err
	}
	defer runtime.Finish()
	r.bindTo(runtime)
	return r.previewIn(ctx, runtime)
}

// previewIn runs the tool's preview within the time that a call has. One that
// does not stop is left behind, so that a cancel need not wait for it.
func (r *running) previewIn(ctx context.Context, runtime *callRuntime) (content []kinds.Content, err error) {
	if limit := r.pipeline.Limits.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	type preview struct {
		content []kinds.Content
		err     error
	}
	made := make(chan preview, 1)
	err = r.bounded(ctx, func() {
		defer func() {
			if v := recover(); v != nil {
				made <- preview{err: r.pipeline.panicked(r.Tool, r.ID, v)}
			}
		}()
		content, err := r.entry.Preview(ctx, runtime, r.args)
		made <- preview{content, err}
	})
	if errors.Is(context.Cause(ctx), errTimeout) {
		return nil, tools.Errorf(tools.Timeout, "%s: what it would do could not be worked out in time", r.Tool)
	}
	if err != nil {
		return nil, err
	}
	p := <-made
	return p.content, p.err
}

// askOnce puts one request to the user. asking ends with ctx, or before it when the request
// is withdrawn; an answer that came just before counts.
func (r *running) askOnce(ctx, asking context.Context) error {
	reason := r.clean(strings.Join(append([]string{r.decision.Reason}, r.links...), "; "))
	r.sink.Emit(transcript.ToolState{
		CallID: r.ID, State: transcript.BlockedOnUser, ToAllow: r.decision.ToAllow, Reason: reason,
	})
	r.asked = reason
	r.publish(observe.ApprovalRequested, "approval-requested", nil)
	answer, err := r.question(asking, tools.PermissionRequest{
		CallID:   r.ID,
		Name:     r.Name,
		Ready:    transcript.ToolReady{CallID: r.ID, Tool: r.Tool, Input: r.Input, Args: r.Args, Card: r.redactedCard(r.card)},
		Reason:   reason,
		Remember: r.remember(), NoAlways: r.decision.NoAlways,
		Project: r.forProject(), Agents: r.pipeline.Names,
		Sandbox: r.sandbox(ctx),
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &tools.Error{
			Kind: tools.Denied, DeniedBy: tools.DeniedByUser, Err: err,
			Message: "the editor could not ask for permission, so the call was not run",
		}
	}
	r.answer = answerName(answer)
	return r.applyAnswer(answer)
}
