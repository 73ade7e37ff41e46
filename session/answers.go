package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"acp-agent/permissions"
	"acp-agent/store"
	"acp-agent/subagent"
	"acp-agent/tools/pipeline"
)

// The keys under which a session stores the user's answers: to the main agent, those of them that
// hold for the session only, and to its subagents.
const (
	rulesKey     = "rules"
	hereKey      = "rules here"
	subagentsKey = "rules of subagents"
)

// storedAnswers are the user's answers to the subagents of one path of names, as they are stored.
type storedAnswers struct {
	Names []string `json:"names"`
	// Manifests is a digest of their manifests, from the first name down: answers to others of
	// these names do not hold.
	Manifests string             `json:"manifests"`
	Rules     []permissions.Rule `json:"rules"`
	Here      []permissions.Rule `json:"here,omitempty"`
}

// answersIn are the rules of a policy that the user's answers added, and those of them that hold
// for the session only.
func answersIn(p *pipeline.Policy) (rules, here []permissions.Rule) {
	rules, here = []permissions.Rule{}, []permissions.Rule{}
	for _, rule := range p.Rules().In(permissions.Session) {
		if rule.Source != permissions.SourceAlways && rule.Source != pipeline.SourceAnswer {
			continue
		}
		rules = append(rules, rule)
		if !p.MayKeep(rule) {
			here = append(here, rule)
		}
	}
	return rules, here
}

// saveAnswers stores the user's answers, where they have changed.
func (b *ruleBook) saveAnswers(a *archive) {
	rules, here := answersIn(b.policy)
	a.put(rulesKey, rules)
	a.put(hereKey, here)
	a.put(subagentsKey, b.agents.answers())
}

// restoreAnswers puts the user's answers of the stored session in force. Those to subagents wait
// for the first of their name.
func (b *ruleBook) restoreAnswers(a *archive) {
	var rules, here []permissions.Rule
	var below []storedAnswers
	for key, into := range map[string]any{rulesKey: &rules, hereKey: &here, subagentsKey: &below} {
		if _, err := a.get(key, into); err != nil {
			return
		}
	}
	b.policy.Restore(rules, here)
	b.agents.expect(below)
}

// StoredAnswers are the rules that the user's answers added in a stored session, those to
// subagents left out.
func StoredAnswers(stored *store.Stored) (rules []permissions.Rule, err error) {
	_, err = stored.State(rulesKey, &rules)
	return rules, err
}

// answers are the user's answers to all subagents, those too that are still expected.
func (a *agents) answers() []storedAnswers {
	list := []storedAnswers{}
	for _, p := range a.policiesInUse() {
		if rules, here := answersIn(p.policy); len(rules) > 0 {
			list = append(list, storedAnswers{p.names, p.digest, rules, here})
		}
	}
	return append(list, a.expectedAnswers()...)
}

// expect notes answers of the stored session.
func (a *agents) expect(list []storedAnswers) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expected = list
}

// expectedAnswers are answers of the stored session to subagents that have not been needed since.
func (a *agents) expectedAnswers() []storedAnswers {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.expected)
}

// restoreInto gives a policy the answers of the stored session, once; mu is held.
func (a *agents) restoreInto(p *agentPolicy) {
	for i, f := range a.expected {
		if !slices.Equal(f.Names, p.names) {
			continue
		}
		if f.Manifests == p.digest && p.digest != "" {
			p.policy.Restore(f.Rules, f.Here)
		}
		a.expected = slices.Delete(slices.Clone(a.expected), i, i+1)
		return
	}
}

// forgetExpected drops an answer to a subagent that has not been needed, and reports whether it
// was there.
func (a *agents) forgetExpected(names []string, rule permissions.Rule) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, f := range a.expected {
		at := slices.Index(f.Rules, rule)
		if at < 0 || !slices.Equal(f.Names, names) {
			continue
		}
		f.Rules = slices.Delete(slices.Clone(f.Rules), at, at+1)
		a.expected = slices.Clone(a.expected)
		if a.expected[i] = f; len(f.Rules) == 0 {
			a.expected = slices.Delete(a.expected, i, i+1)
		}
		return true
	}
	return false
}

// digestOf is a digest of a manifest and of those above it, of which the next has policy; mu is
// held. It is empty where one of
// them has no form that could be compared later.
func (a *agents) digestOf(names []string, m subagent.Manifest, policy *pipeline.Policy) string {
	above := ""
	if len(names) > 1 {
		parent := a.policies[strings.Join(names[:len(names)-1], "/")]
		if parent == nil || parent.policy != policy {
			return ""
		}
		if above = parent.digest; above == "" {
			return ""
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(above), data...))
	return hex.EncodeToString(sum[:])
}
