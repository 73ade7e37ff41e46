package pipeline

import (
	"sync"

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
func (p *Policy) SetDefaults(rules []permissions.Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set = p.set.Replace(permissions.DefaultScope, rules)
}

// Remember adds rules to the session's scope.
func (p *Policy) Remember(rules ...permissions.Rule) { p.Add(permissions.Session, rules...) }

// Add adds rules to a scope.
func (p *Policy) Add(scope permissions.Scope, rules ...permissions.Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set = p.set.With(scope, rules...)
}
