package pipeline

import (
	"fmt"
	"strings"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// applyAnswer does what the user answered (R123).
func (r *running) applyAnswer(answer tools.Answer) error {
	card := "Rejected."
	switch answer {
	case tools.AllowOnce:
		r.reach.approved = true
		r.grant(false)
		return nil
	case tools.AllowAlways:
		r.reach.approved = true
		r.grantMissed()
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
		r.grantMissed()
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
	if !r.pipeline.Session.StoresRules() || len(r.decision.Always) == 0 || len(r.outside) > 0 {
		return false
	}
	return r.pipeline.Policy.Rules().WithProjectRules(r.decision.Always...).Decide(r.judged).Action == capability.Allow
}

// keepForProject stores the narrow rules of the call for the project (R152). Where they
// cannot be stored they hold for the session, and that is said.
func (r *running) keepForProject() {
	if err := r.pipeline.Session.StoreRules(stamped(r.decision.Always)); err != nil {
		r.notKept(r.decision.Always, err)
	}
}

// notKept has rules that could not be stored hold for the session.
func (r *running) notKept(rules []permissions.Rule, err error) {
	r.pipeline.Policy.Remember(rules...)
	r.pipeline.Logger.Warn("rule not kept for the project", "call_id", r.ID, "error", err.Error())
	r.sink.Emit(transcript.Notice{
		Severity: transcript.Warning, Title: "Not kept for the project",
		Text: "This rule could not be kept for the project and holds for this session only: " + err.Error(),
	})
}

// SourceAnswer marks the denials that "reject always" added.
const SourceAnswer = "the user's answer"

// denials are the session rules of a "reject always": exactly this call. A tool from elsewhere that
// names no resources is denied as a whole.
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

// refused is the end of a call that rules, mode or the lack of a user deny.
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
