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

// maxPreviews bounds how often the user is asked about one call whose preview keeps changing
// while they look at it.
const maxPreviews = 3

// approval asks the user about a call and applies the answer.
type approval struct {
	*sharedState
	confinement *confinement
	judgement   *judgement
	access      *commandAccess
	sandboxing  *sandboxing
	// asked is the reason on the card, answer the user's answer; "" without a question.
	asked, answer string
}

// ask asks the user about the call when the rules say so. What the user approves is what runs: ask
// makes the preview again after the answer, and asks again when it differs (E6, R41).
func (a *approval) ask(ctx context.Context) error {
	preview, err := a.preview(ctx)
	if err != nil {
		return err
	}
	a.card.Content = preview
	if answered, err := a.applyEarlierAnswer(ctx); answered {
		return err
	}
	if a.judgement.decision.Action == capability.Allow {
		return a.judgement.refuseUnattended(ctx)
	}
	a.access.noticeNoSandbox()
	if a.pipeline.Asker == nil {
		return denial(permissions.Headless(a.judgement.decision))
	}
	defer a.pipeline.Session.AwaitUser(ctx)()
	return tools.AskInTurn(ctx, a.pipeline.Queue, a.ID, func(asking context.Context) error { return a.askUntilShown(ctx, asking) })
}

// askUntilShown asks until the call will do what the user saw.
func (a *approval) askUntilShown(ctx, asking context.Context) error {
	for i := range maxPreviews {
		if i > 0 {
			a.resetTargets(a.pipeline) // the preview has changed, so the paths may lead elsewhere
		} else if err := a.confinement.refreshTargets(ctx); err != nil {
			return err
		}
		// An answer about another call may allow or deny this one meanwhile (R123).
		if err := a.judgement.judge(ctx); err != nil {
			return err
		}
		if a.judgement.decision.Action == capability.Allow {
			return nil
		}
		if err := a.askOnce(ctx, asking); err != nil {
			return err
		}
		if len(a.judgement.opens) > 0 && !a.access.approved {
			continue
		}
		again, err := a.preview(ctx)
		if err != nil {
			return err
		}
		if reflect.DeepEqual(again, a.card.Content) && a.judgement.unchanged() {
			return nil
		}
		a.card.Content = again
	}
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByUser,
		Message: "what this call does kept changing while the user was looking at it, so it was not run",
	}
}

// preview computes what the call would change, and changes nothing (R152).
func (a *approval) preview(ctx context.Context) ([]kinds.Content, error) {
	if a.entry.Preview == nil {
		return nil, nil
	}
	runtime, err := a.pipeline.runtimeOf(a.Prepared, a.ID+"/preview", transcript.Discard)
	if err != nil {
		return nil, err
	}
	defer runtime.Finish()
	a.judgement.bindTo(runtime)
	return a.previewIn(ctx, runtime)
}

// previewIn runs the tool's preview within the time limit of a call. It abandons a preview that
// does not stop, so that a cancel does not wait for it.
func (a *approval) previewIn(ctx context.Context, runtime *callRuntime) (content []kinds.Content, err error) {
	if limit := a.pipeline.Limits.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	type preview struct {
		content []kinds.Content
		err     error
	}
	made := make(chan preview, 1)
	err = a.bounded(ctx, func() {
		defer func() {
			if v := recover(); v != nil {
				made <- preview{err: a.pipeline.panicked(a.Tool, a.ID, v)}
			}
		}()
		content, err := a.entry.Preview(ctx, runtime, a.args)
		made <- preview{content, err}
	})
	if errors.Is(context.Cause(ctx), errTimeout) {
		return nil, tools.Errorf(tools.Timeout, "%s: what it would do could not be worked out in time", a.Tool)
	}
	if err != nil {
		return nil, err
	}
	p := <-made
	return p.content, p.err
}

// askOnce asks the user once, about this call and the calls that share its card. asking ends with ctx, or earlier
// when the request is withdrawn; an answer that arrived just before still counts.
func (a *approval) askOnce(ctx, asking context.Context) error {
	request, others := a.startAsking(ctx), a.onSameCard(ctx)
	shown := make([]commandSnapshot, len(others))
	for i, other := range others {
		request.With = append(request.With, other.startAsking(ctx))
		shown[i] = other.snapshot(ctx)
	}
	answer, err := a.question(asking, request)
	for _, other := range others {
		other.requeue()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &tools.Error{
			Kind: tools.Denied, DeniedBy: tools.DeniedByUser, Err: err,
			Message: "the editor could not ask for permission, so the call was not run",
		}
	case answer == tools.OneByOne && len(others) > 0:
		a.askAlone = true
		for _, other := range others {
			other.askAlone = true
		}
		return a.askOnce(ctx, asking)
	}
	for i, other := range others {
		other.earlier = &earlierAnswer{answer, other.asked, shown[i]}
	}
	a.answer = answerName(answer)
	return a.applyAnswer(answer)
}

// startAsking emits the event that the call waits for the user, and returns the permission request.
func (a *approval) startAsking(ctx context.Context) tools.PermissionRequest {
	a.asked = a.redact(strings.Join(append([]string{a.judgement.decision.Reason}, a.confinement.links...), "; "))
	a.sink.Emit(transcript.ToolState{
		CallID: a.ID, State: transcript.BlockedOnUser, ToAllow: a.judgement.decision.ToAllow, Reason: a.asked,
	})
	a.publish(observe.ApprovalRequested, "approval-requested", nil)
	return tools.PermissionRequest{
		CallID:   a.ID,
		Name:     a.Name,
		Ready:    transcript.ToolReady{CallID: a.ID, Tool: a.Tool, Input: a.Input, Args: a.Args, Card: a.redactCard(a.card)},
		Reason:   a.asked,
		Remember: a.alwaysText(), NoAlways: a.judgement.decision.NoAlways,
		Project: a.forProject(), Agents: a.pipeline.Names,
		Sandbox: a.sandboxing.describe(ctx), Outside: a.sandboxing.offersOutside(ctx),
	}
}

// question records a permission request, sends it to the user and returns the answer.
func (s *sharedState) question(ctx context.Context, request tools.PermissionRequest) (tools.Answer, error) {
	s.recordQuestion(questionStep, request)
	return s.pipeline.Asker.Ask(ctx, request)
}
