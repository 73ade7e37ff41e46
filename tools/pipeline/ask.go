package pipeline

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/observe"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// maxPreviews is how often a person is asked about one call whose preview goes
// on changing while they look at it.
const maxPreviews = 3

// ask puts the call to the person when the rules say so. What they approve is
// what runs: the preview is made again behind the answer, and a call that would
// now do something else is asked about anew (E6, R41).
func (r *running) ask(ctx context.Context) error {
	preview, err := r.preview(ctx)
	if err != nil {
		return err
	}
	r.card.Content = preview
	if r.decision.Action == capability.Allow {
		return r.unattended(ctx)
	}
	r.tellUnconfined()
	if r.pipeline.Asker == nil {
		return r.refused(permissions.Headless(r.decision))
	}
	if r.pipeline.Await != nil {
		defer r.pipeline.Await(ctx)()
	}
	for {
		if err := r.askInLine(ctx); !errors.Is(err, tools.ErrWithdrawn) {
			return err
		}
	}
}

// askInLine asks when it is the call's turn. The error is tools.ErrWithdrawn when the
// question has to be asked again.
func (r *running) askInLine(ctx context.Context) error {
	asking, leave, err := r.pipeline.Line.Enter(ctx, r.ID)
	if err != nil {
		return err
	}
	defer leave()
	for range maxPreviews {
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
		Message: "what this call does kept changing while the person was looking at it, so it was not run",
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
	runtime.Bind(r.bind())
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
		content, err := r.entry.Preview(ctx, runtime, r.Args)
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

// askOnce puts one request to the user. asking ends with ctx, or before it when the request is
// withdrawn.
func (r *running) askOnce(ctx, asking context.Context) error {
	reason := r.clean(strings.Join(append([]string{r.decision.Reason}, r.links...), "; "))
	r.sink.Emit(transcript.ToolState{
		CallID: r.ID, State: transcript.BlockedOnUser, ToAllow: r.decision.ToAllow, Reason: reason,
	})
	r.asked = reason
	r.publish(observe.ApprovalRequested, "approval-requested", nil)
	answer, err := r.pipeline.Asker.Ask(asking, tools.PermissionRequest{
		CallID:   r.ID,
		Name:     r.Name,
		Ready:    transcript.ToolReady{CallID: r.ID, Tool: r.Tool, Input: r.Input, Args: r.Args, Card: r.discreetCard(r.card)},
		Reason:   reason,
		Remember: r.remember(), NoAlways: r.decision.NoAlways,
		Project: r.forProject(), Agents: r.pipeline.Names,
		Sandbox: r.sandbox(ctx),
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case withdrawn(asking, err):
		return tools.ErrWithdrawn
	case err != nil:
		return &tools.Error{
			Kind: tools.Denied, DeniedBy: tools.DeniedByUser, Err: err,
			Message: "the editor could not ask for permission, so the call was not run",
		}
	}
	r.answer = answerName(answer)
	return r.heed(answer)
}

// withdrawn reports whether a request failed because it was withdrawn. An answer that came
// just before is one.
func withdrawn(asking context.Context, err error) bool {
	return err != nil && errors.Is(context.Cause(asking), tools.ErrWithdrawn)
}

// heed does what the person answered (R123).
func (r *running) heed(answer tools.Answer) error {
	card := "Rejected."
	switch answer {
	case tools.AllowOnce:
		r.reach.approved = true
		r.grant(false)
		return nil
	case tools.AllowAlways:
		r.reach.approved = true
		r.grantAlways()
		switch {
		case r.remember() == "":
		case r.forProject():
			r.pipeline.Policy.Remember(r.decision.Always...)
		default:
			r.pipeline.Policy.RememberHere(r.decision.Always...)
		}
		r.grant(len(r.outside) > 0)
		return nil
	case tools.AllowProject:
		r.reach.approved = true
		r.grantAlways()
		if r.forProject() {
			r.keepForProject()
		}
		r.grant(false)
		return nil
	case tools.RejectAlways:
		r.pipeline.Policy.Remember(r.denials()...)
		card = "Rejected, for the rest of the session."
	case tools.Cancelled:
		return &tools.Error{Kind: tools.Aborted, Message: "the permission request was dismissed, so the call was not run"}
	}
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByUser,
		Message: "the user rejected this call", Hint: "Do not try it again in another way; ask what they want instead.",
		Card: card,
	}
}

// remember says in one line what "always" would store.
func (r *running) remember() string {
	var parts []string
	for _, access := range r.outside {
		if access.Dir == "" {
			return "" // it may be opened for this call alone
		}
		parts = append(parts, "reading in "+access.Dir)
	}
	for _, rule := range r.decision.Always {
		if rule.Permission == shellTool {
			parts = append(parts, commands(rule.Pattern))
			continue
		}
		if rule.Pattern == "*" {
			parts = append(parts, "every call of "+rule.Permission)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s of %s", rule.Permission, r.pipeline.Workspace.Session().Rel(rule.Pattern)))
	}
	if r.mayStayOpen() {
		parts = append(parts, r.lacks()+" for this very command")
	}
	return strings.Join(parts, ", ")
}

// commands says which commands a stored pattern allows: one, or those that begin like it.
func commands(pattern string) string {
	if strings.HasSuffix(pattern, "*") && !strings.HasSuffix(pattern, `\*`) {
		return "commands like " + pattern
	}
	return "the very command " + pattern
}

// forProject reports whether the rules that "always" would store may be kept for
// the project too, and would help: an ask of the project's own file that is as specific
// holds against them. Reading outside the session's directories may not be kept: that is
// no rule.
func (r *running) forProject() bool {
	if r.pipeline.Keep == nil || len(r.decision.Always) == 0 || len(r.outside) > 0 {
		return false
	}
	return r.pipeline.Policy.Rules().Keep(r.decision.Always...).Decide(r.judged).Action == capability.Allow
}

// keepForProject stores the narrow rules of the call for the project (R152). Where they
// cannot be stored they hold for the session, and that is said.
func (r *running) keepForProject() {
	err := r.pipeline.Keep(stamped(r.decision.Always))
	if err == nil {
		return
	}
	r.pipeline.Policy.Remember(r.decision.Always...)
	r.pipeline.Logger.Warn("rule not kept for the project", "call_id", r.ID, "error", err.Error())
	r.sink.Emit(transcript.Notice{
		Severity: transcript.Warning, Title: "Not kept for the project",
		Text: "This rule could not be kept for the project and holds for this session only: " + err.Error(),
	})
}

// SourceAnswer marks the denials that "reject always" added.
const SourceAnswer = "the person's answer"

// denials are the session rules of a "reject always": this very call, no more. A tool from
// elsewhere names nothing that it touches, so it is all of it.
func (r *running) denials() []permissions.Rule {
	var rules []permissions.Rule
	for _, resource := range r.judged.Resources {
		pattern := permissions.ExactPattern(resource)
		if pattern == "" {
			continue
		}
		rules = append(rules, permissions.Rule{
			Permission: r.Tool, Pattern: pattern, Action: capability.Deny, Source: SourceAnswer,
		})
	}
	if len(r.judged.Resources) == 0 && r.entry.Foreign() {
		rules = append(rules, permissions.Rule{Permission: r.Tool, Pattern: "*", Action: capability.Deny, Source: SourceAnswer})
	}
	return rules
}

// refused is the end of a call that rules, mode or the lack of a person deny.
func (r *running) refused(d permissions.Decision) error {
	by := d.DeniedBy
	if by == permissions.DeniedByRule {
		by = "rule:" + d.Scope.String()
	}
	denied := &tools.Error{Kind: tools.Denied, DeniedBy: by, Message: d.Reason}
	if by == permissions.DeniedBySecret {
		denied.Code = tools.CodeSecretFile
	}
	return denied
}
