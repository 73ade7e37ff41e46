package permissions

import (
	"fmt"
	"slices"
	"time"

	"acp-agent/capability"
)

// Decide answers the call (R115, R116). Over all its resources, and over the rules of
// the agents that delegated to this one, the strictest answer holds; what the user
// allowed to this one counts in theirs too (see Child).
//
// The order for one resource: a deny of any scope; then the most specific ask or allow
// that a user, a manifest or the session wrote (permission exact, then capability,
// then wildcard; then length of the pattern's literal text; then the later scope); then
// the default rows, or the command judge in their place, which never outrank a written
// rule; then ask. Between rules that are equal in all this the stricter wins.
func (s Set) Decide(call Call) Decision {
	d := s.decide(call)
	if d.Action != capability.Ask {
		return d
	}
	if since := s.stale(call); since != "" {
		d.Reason += "; " + since
	}
	d.ToAllow = s.toAllow(call)
	if d.Validation {
		d.NoAlways = "a finding of this kind is asked about each time"
		return d
	}
	rules, why := s.alwaysRules(call)
	switch {
	case len(rules) == 0:
		d.NoAlways = why
	case s.With(Session, rules...).decide(call).Action == capability.Allow:
		d.Always = rules
	default:
		d.NoAlways = "another rule would ask all the same"
	}
	return d
}

func (s Set) decide(call Call) Decision {
	names, lineage := call.names(), s.lineage()
	var worst Decision
	risk, validation, sandboxed := RiskNone, false, false
	for i, p := range call.pairs() {
		d := lineage.decidePair(call, names, p)
		d.Part = p.part()
		for _, also := range p.Also {
			if bound := lineage.decidePair(call, []string{also}, p); bound.Action.Stricter(d.Action) {
				d, d.Part = bound, p.part()
			}
		}
		if d.Risk.rank() > risk.rank() {
			risk = d.Risk
		}
		validation, sandboxed = validation || d.Validation, sandboxed || d.Sandboxed
		// Of two asks, the reason of the one that no rule lifts says more.
		firmer := d.Action == worst.Action && d.Action == capability.Ask && d.Validation && !worst.Validation
		if i == 0 || d.Action.Stricter(worst.Action) || firmer {
			worst = d
		}
	}
	worst.Risk, worst.Validation, worst.Sandboxed = risk, validation, sandboxed
	return worst
}

func (s Set) decidePair(call Call, names []string, p pair) Decision {
	d := s.answer(call, names, p)
	d.Risk = riskOf(p)
	if d.Action == capability.Deny {
		return d
	}
	if p.Judged != nil && p.Judged.Validation {
		d.Validation, d.Risk = true, RiskDanger
		if d.Action == capability.Allow {
			d = Decision{Reason: p.Judged.Reason, Layer: LayerPolicy, Risk: d.Risk, Validation: true}
		}
	}
	if layer, why := pinned(call, p); why != "" {
		// This reason replaces that of a rule which would have asked anyway: it says more.
		d = Decision{Reason: why, Layer: layer, Risk: RiskProtected, Validation: true}
	}
	return d
}

// pinned says why a call, or writing a file, is asked each time, whatever the rules say; empty when
// it is not.
func pinned(call Call, p pair) (layer, why string) {
	if call.Tool == planExit {
		return LayerRules, "leaving plan mode is for the user to decide"
	}
	if !writes(p) {
		return "", ""
	}
	if protection, why := protectionOf(call, p.Resource); protection != Unprotected {
		return LayerProtected, why
	}
	for _, name := range p.all() {
		if call.secret(name) {
			return LayerSecret, name + " holds secrets, so writing it is always asked"
		}
	}
	return "", ""
}

// answer applies the final denies and then the rules to one pair.
func (s Set) answer(call Call, names []string, p pair) Decision {
	if d, denied := finalDeny(call, p); denied {
		return d
	}
	if d, denied := s.deniedByRestriction(call, p); denied {
		return d
	}
	if rule, scope, ok := s.denying(call, names, p); ok {
		return Decision{
			Action: capability.Deny, DeniedBy: DeniedByRule, Layer: LayerRules, Rule: &rule, Scope: scope,
			Reason: describe(rule, scope),
		}
	}
	if rule, scope, ok := s.best(call, names, p, Manifest, Session); ok {
		return Decision{Action: rule.Action, Layer: LayerRules, Rule: &rule, Scope: scope, Reason: describe(rule, scope)}
	}
	if s.restricted && call.reachesOut() {
		return Decision{Action: capability.Ask, Layer: LayerRules, Reason: "a restricted subagent asks before it uses a tool from elsewhere that has the network"}
	}
	if p.Judged != nil {
		return s.judged(call, names, p)
	}
	if rule, scope, ok := s.best(call, names, p, DefaultScope, DefaultScope); ok {
		return Decision{Action: rule.Action, Layer: LayerRules, Rule: &rule, Scope: scope, Reason: describe(rule, scope)}
	}
	if s.restricted && starts(p) {
		return Decision{Action: capability.Ask, Layer: LayerRules, Reason: "a restricted subagent asks before it runs a program"}
	}
	return Decision{Action: capability.Ask, Layer: LayerRules, Reason: fmt.Sprintf("no rule covers %s", call.Tool)}
}

// judged is the answer of the command judge, which stands in for the default row of the
// shell tool. The checks of a trusted project are the user's own commands, which they
// allowed with their trust (R117). What a sandbox confines may be free without either.
func (s Set) judged(call Call, names []string, p pair) Decision {
	if p.Judged.Action == capability.Allow && p.Judged.Open && s.narrows(names, p) {
		return Decision{Layer: LayerPolicy, Reason: "a rule speaks of commands, and what this one reads is only known when it runs"}
	}
	if rule, ok := s.inSandbox(names, p); ok {
		return Decision{Action: capability.Allow, Layer: LayerRules, Rule: &rule, Scope: DefaultScope, Reason: "the sandbox confines it", Sandboxed: true}
	}
	if p.Judged.Action == capability.Ask {
		rule, scope, ok := s.best(call, names, p, DefaultScope, DefaultScope)
		if ok && rule.Action == capability.Allow && rule.Source == sourceTrust {
			return Decision{Action: rule.Action, Layer: LayerRules, Rule: &rule, Scope: scope, Reason: describe(rule, scope)}
		}
		if p.Judged.NotSandboxable != "" && s.sandboxed(names) != nil {
			return Decision{Layer: LayerPolicy, Reason: p.Judged.NotSandboxable} // why it is asked even so
		}
	}
	return Decision{Action: p.Judged.Action, Layer: LayerPolicy, Reason: p.Judged.Reason}
}

// finalDeny holds the denials that no rule of any scope can lift.
func finalDeny(call Call, p pair) (Decision, bool) {
	if p.Judged != nil && p.Judged.Action == capability.Deny {
		return Decision{Action: capability.Deny, DeniedBy: DeniedByPolicy, Layer: LayerPolicy, Reason: p.Judged.Reason}, true
	}
	if p.Kind != Path {
		return Decision{}, false
	}
	if writes(p) {
		if protection, why := protectionOf(call, p.Resource); protection == ProtectedDeny {
			return Decision{Action: capability.Deny, DeniedBy: DeniedByProtected, Layer: LayerProtected, Reason: why}, true
		}
		return Decision{}, false
	}
	for _, name := range p.all() {
		if call.secret(name) {
			return Decision{Action: capability.Deny, DeniedBy: DeniedBySecret, Layer: LayerSecret, Reason: SecretReason}, true
		}
	}
	return Decision{}, false
}

func (s Set) denying(call Call, names []string, p pair) (Rule, Scope, bool) {
	for i := scopeCount - 1; i >= 0; i-- {
		for _, rule := range s.scopes[i] {
			if rule.Action != capability.Deny {
				continue
			}
			rank := rankPermission(rule.Permission, names, p.capability)
			if rank == noMatch && call.mayUse(rule) {
				return rule, Scope(i), true
			}
			if rank == noMatch {
				continue
			}
			if _, ok := matchRule(rule, rank, call, p); ok {
				return rule, Scope(i), true
			}
		}
	}
	return Rule{}, 0, false
}

// DenyReading returns a test for paths that a rule forbids the call's tool to
// read, for tools that go through many files; nil when no rule forbids any.
func (s Set) DenyReading(call Call) func(path string) bool {
	var forms []string
	names := call.names()
	for _, set := range s.lineage() {
		for _, rule := range slices.Concat(set.scopes[:]...) {
			if rule.Action != capability.Deny || rankPermission(rule.Permission, names, capability.CapFSRead) == noMatch {
				continue
			}
			expanded, known := pathForms(rule.Pattern, call)
			if matchesAll(rule.Pattern) || !known { // a deny that cannot be understood is kept
				return func(string) bool { return true }
			}
			for _, form := range expanded {
				forms = append(forms, foldPath(form))
			}
		}
	}
	if len(forms) == 0 {
		return nil
	}
	return func(path string) bool {
		name := foldPath(slash(path))
		return slices.ContainsFunc(forms, func(form string) bool { return matchPath(form, name) })
	}
}

// best returns the most specific ask or allow of the scopes from..to.
func (s Set) best(call Call, names []string, p pair, from, to Scope) (Rule, Scope, bool) {
	var (
		found bool
		rule  Rule
		scope Scope
		top   weight
	)
	for i := from; i <= to; i++ {
		for _, r := range s.scopes[i] {
			if r.Action == capability.Deny || !s.counts(r, i, call, p) {
				continue
			}
			w := weight{permission: rankPermission(r.Permission, names, p.capability), scope: i}
			if w.permission == noMatch {
				continue
			}
			literal, ok := matchRule(r, w.permission, call, p)
			if !ok {
				continue
			}
			w.literal, w.name = literal, literalText(r.Permission)
			c := w.compare(top)
			if !found || c > 0 || c == 0 && r.Action.Stricter(rule.Action) {
				found, rule, scope, top = true, r, i, w
			}
		}
	}
	return rule, scope, found
}

func describe(rule Rule, scope Scope) string {
	pattern := rule.Pattern
	if pattern == "" {
		pattern = "*"
	}
	if scope == DefaultScope {
		switch rule.Action {
		case capability.Ask:
			if rule.Source == sourceTrust {
				return fmt.Sprintf("%s asks until you trust this project (/trust)", rule.Permission)
			}
			return fmt.Sprintf("%s asks by default", rule.Permission)
		case capability.Allow:
			if rule.Source == sourceTrust {
				return fmt.Sprintf("%s is allowed in a trusted project", rule.Permission)
			}
			return fmt.Sprintf("%s is allowed by default", rule.Permission)
		}
	}
	text := fmt.Sprintf("%s rule %q for %s (%s)", rule.Action, pattern, rule.Permission, scope)
	switch {
	case rule.Source == SourceAlways && !rule.AddedAt.IsZero():
		text += ", from your answer of " + rule.AddedAt.Format(time.RFC3339)
	case rule.Source == SourceAlways:
		text += ", from your answer"
	case rule.Source != "":
		text += ", from " + rule.Source
	}
	return text
}

func riskOf(p pair) Risk {
	if p.Judged != nil && p.Judged.Action == capability.Deny {
		return RiskDanger
	}
	switch {
	case p.Kind == Command && p.Judged != nil && p.Judged.Action == capability.Allow:
		return RiskRead
	case p.Kind == Command, p.Kind == Program, p.capability == capability.CapShellRun:
		return RiskExecute
	case writes(p):
		return RiskWrite
	case p.Kind == Host, p.capability == capability.CapNetFetch:
		return RiskNetwork
	case p.Kind == Path, p.capability == capability.CapFSRead:
		return RiskRead
	default:
		return RiskNone
	}
}

// writes reports whether the pair changes a file. A path without any capability may be
// written, for all that is known of it.
func writes(p pair) bool {
	return p.Kind == Path && p.capability != capability.CapFSRead
}

// part is the piece of a call that a resource stands for, see Decision.Part.
func (p pair) part() string {
	if p.Judged != nil && p.Judged.Part != "" {
		return p.Judged.Part
	}
	return p.Name
}

func (r Resource) all() []string {
	return append([]string{r.Name}, r.Requested...)
}
