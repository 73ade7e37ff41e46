package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// applyAnswer applies the user's answer (R123).
func (a *approval) applyAnswer(answer tools.Answer) error {
	cardText := "Rejected."
	a.access.runsOutside = answer == tools.AllowOutside
	switch answer {
	case tools.AllowOnce, tools.AllowOutside:
		a.access.approved = true
		a.confinement.openOutside(false)
		return nil
	case tools.AllowAlways:
		if len(a.judgement.opens) > 0 { // the command is judged again, and held to reading like later ones
			a.judgement.openReads()
			return nil
		}
		a.access.approved = true
		a.access.grantMissed()
		switch {
		case a.alwaysText() == "": // the card offered no "always"
		case a.forProject():
			a.pipeline.Policy.Remember(a.judgement.decision.Always...)
		default:
			a.pipeline.Policy.rememberForSession(a.judgement.decision.Always...)
		}
		a.confinement.openOutside(true)
		return nil
	case tools.AllowProject:
		a.access.approved = true
		a.access.grantMissed()
		if a.forProject() {
			a.storeForProject(a.judgement.decision.Always)
		}
		a.confinement.openOutside(false)
		return nil
	case tools.RejectAlways:
		a.pipeline.Policy.Remember(a.denials()...)
		cardText = "Rejected, for the rest of the session."
	case tools.Cancelled:
		return &tools.Error{Kind: tools.Aborted, Message: "the permission request was dismissed, so the call was not run"}
	}
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByUser,
		Message: "the user rejected this call", Hint: "Do not try it again in another way; ask what they want instead.",
		Card: cardText,
	}
}

// alwaysText describes in one line what "always" would store; "" when there is no "always".
func (a *approval) alwaysText() string {
	var parts []string
	for _, access := range a.openable() {
		if access.Dir == "" {
			return "" // this directory may be opened only for this call
		}
		parts = append(parts, "reading in "+access.Dir)
	}
	for _, rule := range a.judgement.decision.Always {
		if rule.Permission == shellTool {
			parts = append(parts, commandsText(rule.Pattern))
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

// openable are the reads outside the session's directories whose directories "always" opens.
func (a *approval) openable() []workspace.Access {
	return slices.Concat(a.confinement.outside, a.judgement.opens)
}

// commandsText describes the commands that a stored pattern allows: one, or all with the same beginning.
func commandsText(pattern string) string {
	if strings.HasSuffix(pattern, "*") && !strings.HasSuffix(pattern, `\*`) {
		return "commands like " + pattern
	}
	return "the very command " + pattern
}

// forProject reports whether the rules that "always" would store may be stored for the project as well,
// and would have an effect there: an equally specific ask in the project's own file wins against
// them. Access to a directory outside is not a rule and cannot be stored.
func (a *approval) forProject() bool {
	if !a.pipeline.Session.StoresRules() || len(a.judgement.decision.Always) == 0 || len(a.confinement.outside) > 0 {
		return false
	}
	return a.pipeline.Policy.Rules().WithProjectRules(a.judgement.decision.Always...).Decide(a.judgement.judged).Action == capability.Allow
}

// storeForProject stores rules for the project (R152). Rules that cannot be stored apply to the session
// only, and a notice says so.
func (s *sharedState) storeForProject(rules []permissions.Rule) {
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

// denials returns the session rules of a "reject always". They deny exactly this call, or all calls of
// a tool from elsewhere when the call names no resources.
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
