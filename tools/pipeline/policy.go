package pipeline

import (
	"slices"
	"sync"
	"time"

	"acp-agent/permissions"
)

// Policy is the rules in force for one session. They change while it lives:
// the mode replaces the defaults, answers add to the session's scope.
type Policy struct {
	mu  sync.Mutex
	set permissions.Set
}

// NewPolicy returns a policy that begins with the given rules.
func NewPolicy(set permissions.Set) *Policy { return &Policy{set: set} }

// Rules returns a snapshot.
func (p *Policy) Rules() permissions.Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set
}

// SetDefaults replaces the defaults, as a change of mode does.
func (p *Policy) SetDefaults(rules []permissions.Rule) { p.Replace(permissions.DefaultScope, rules) }

// Replace replaces all rules of a scope.
func (p *Policy) Replace(scope permissions.Scope, rules []permissions.Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set = p.set.Replace(scope, rules)
}

// Remember adds rules to the session's scope, from now on.
func (p *Policy) Remember(rules ...permissions.Rule) { p.Add(permissions.Session, stamped(rules)...) }

// Add adds rules to a scope.
func (p *Policy) Add(scope permissions.Scope, rules ...permissions.Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set = p.set.With(scope, rules...)
}

// Forget takes a rule out of the session's scope and reports whether it was there.
func (p *Policy) Forget(rule permissions.Rule) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	rules := p.set.In(permissions.Session)
	left := slices.DeleteFunc(slices.Clone(rules), func(have permissions.Rule) bool { return have == rule })
	p.set = p.set.Replace(permissions.Session, left)
	return len(left) < len(rules)
}

// stamped notes when the rules were added (R114).
func stamped(rules []permissions.Rule) []permissions.Rule {
	now := time.Now().UTC().Truncate(time.Second)
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].AddedAt = now
	}
	return rules
}
