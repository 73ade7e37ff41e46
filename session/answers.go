package session

import (
	"acp-agent/permissions"
	"acp-agent/store"
	"acp-agent/tools/pipeline"
)

// The keys under which a session stores the user's answers.
const (
	rulesKey     = "rules"              // to the main agent
	hereKey      = "rules here"         // of those, the ones that hold for the session only
	subagentsKey = "rules of subagents" // to subagents
)

// storedAnswers are the user's answers to the subagents of one path of names, as they are stored.
type storedAnswers struct {
	Names []string `json:"names"`
	// Manifests is a digest of their manifests, from the first name down. When it differs, the
	// answers do not hold.
	Manifests string             `json:"manifests"`
	Rules     []permissions.Rule `json:"rules"`
	Here      []permissions.Rule `json:"here,omitempty"`
}

// answersIn returns the rules that the user's answers added to a policy. here are the ones among them
// that hold for the session only.
func answersIn(p *pipeline.Policy) (rules, here []permissions.Rule) {
	rules, here = []permissions.Rule{}, []permissions.Rule{}
	for _, rule := range p.Rules().In(permissions.Session) {
		if rule.Source != permissions.SourceAlways && rule.Source != pipeline.SourceAnswer {
			continue
		}
		rules = append(rules, rule)
		if !p.MayStore(rule) {
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
	a.put(subagentsKey, b.below.answers())
}

// restoreAnswers puts the user's answers of the stored session in force. An answer to a subagent waits
// for the first run of a subagent of that name.
func (b *ruleBook) restoreAnswers(a *archive) {
	var rules, here []permissions.Rule
	var below []storedAnswers
	for key, into := range map[string]any{rulesKey: &rules, hereKey: &here, subagentsKey: &below} {
		if _, err := a.get(key, into); err != nil {
			return
		}
	}
	b.policy.Restore(rules, here)
	b.below.expect(below)
}

// StoredAnswers are the rules that the user's answers to the main agent added in a stored session.
func StoredAnswers(stored *store.Stored) (rules []permissions.Rule, err error) {
	_, err = stored.State(rulesKey, &rules)
	return rules, err
}
