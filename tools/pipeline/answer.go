package pipeline

import (
	"fmt"
	"strings"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// applyAnswer does what the answer says (R123).
func (a *approval) applyAnswer(answer tools.Answer) error {
	card := "Rejected."
	a.access.runsOutside = answer == tools.AllowOutside
	switch answer {
	case tools.AllowOnce, tools.AllowOutside:
		a.access.approved = true
		a.confinement.openOutside(false)
		return nil
	case tools.AllowAlways:
		a.access.approved = true
		a.access.grantMissed()
		switch {
		case a.remember() == "":
		case a.forProject():
			a.pipeline.Policy.Remember(a.judgement.decision.Always...)
		default:
			a.pipeline.Policy.rememberForSession(a.judgement.decision.Always...)
		}
		a.confinement.openOutside(len(a.confinement.outside) > 0)
		return nil
	case tools.AllowProject:
		a.access.approved = true
		a.access.grantMissed()
		if a.forProject() {
			a.keepForProject(a.judgement.decision.Always)
		}
		a.confinement.openOutside(false)
		return nil
	case tools.RejectAlways:
		a.pipeline.Policy.Remember(a.denials()...)
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
func (a *approval) remember() string {
	var parts []string
	for _, access := range a.confinement.outside {
		if access.Dir == "" {
			return "" // it may be opened for this call alone
		}
		parts = append(parts, "reading in "+access.Dir)
	}
	for _, rule := range a.judgement.decision.Always {
		if rule.Permission == shellTool {
			parts = append(parts, commands(rule.Pattern))
			continue
		}
		if rule.Pattern == "*" {
			parts = append(parts, "every call of "+rule.Permission)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s of %s", rule.Permission, a.pipeline.Workspace.Session().Rel(rule.Pattern)))
	}
	if a.judgement.mayAlwaysGrantMissed() {
		parts = append(parts, a.access.missedText()+" for this very command")
	}
	return strings.Join(parts, ", ")
}

// commands says which commands a stored pattern allows: one, or all that begin like it.
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
func (a *approval) forProject() bool {
	if !a.pipeline.Session.StoresRules() || len(a.judgement.decision.Always) == 0 || len(a.confinement.outside) > 0 {
		return false
	}
	return a.pipeline.Policy.Rules().WithProjectRules(a.judgement.decision.Always...).Decide(a.judgement.judged).Action == capability.Allow
}

// keepForProject stores rules for the project (R152). Rules that cannot be stored hold for
// the session, and the user is told.
func (s *sharedState) keepForProject(rules []permissions.Rule) {
	err := s.pipeline.Session.StoreRules(stamped(rules))
	if err == nil {
		return
	}
	s.pipeline.Policy.Remember(rules...)
	s.pipeline.Logger.Warn("rule not kept for the project", "call_id", s.ID, "error", err.Error())
	s.sink.Emit(transcript.Notice{
		Severity: transcript.Warning, Title: "Not kept for the project",
		Text: "This rule could not be kept for the project and holds for this session only: " + err.Error(),
	})
}

// SourceAnswer marks the denials that "reject always" added.
const SourceAnswer = "the user's answer"

// denials are the session rules of a "reject always": exactly this call. A tool from elsewhere that
// names no resources is denied as a whole.
func (a *approval) denials() []permissions.Rule {
	var rules []permissions.Rule
	for _, resource := range a.judgement.judged.Resources {
		pattern := permissions.ExactPattern(resource)
		if pattern == "" {
			continue
		}
		rules = append(rules, permissions.Rule{
			Permission: a.Tool, Pattern: pattern, Action: capability.Deny, Source: SourceAnswer,
		})
	}
	if len(a.judgement.judged.Resources) == 0 && a.entry.Foreign() {
		rules = append(rules, permissions.Rule{Permission: a.Tool, Pattern: "*", Action: capability.Deny, Source: SourceAnswer})
	}
	return rules
}
