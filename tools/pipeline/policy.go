package pipeline

import (
	"slices"
	"sync"
	"time"

	"acp-agent/permissions"
)

// Policy is the rules in force for one agent of a session. They change while it lives:
// the mode replaces the defaults, answers add to the session's scope. It is safe for
// concurrent use.
type Policy struct {
	mu  sync.Mutex
	set permissions.Set
	// version counts the changes of set.
	version uint64
	// parent is the policy that set is derived from, as it was at parentVersion; nil for the main
	// agent. parent and delegation never change.
	parent        *Policy
	delegation    PolicyDelegation
	parentVersion uint64
	// answers are the session's rules of a delegated policy.
	answers []permissions.Rule
	// sessionOnly are rules of the session's scope that may not be stored for the project.
	sessionOnly []permissions.Rule
}

// PolicyDelegation is what the rules of a subagent have beside those of its parent (R64).
type PolicyDelegation struct {
	// Manifest are the rules of its manifest, when the project wrote it or it is a
	// shipped one; they can only narrow.
	Manifest []permissions.Rule
	// UserManifest are the rules of a manifest in the user's own folder: an allow counts as the
	// user's word for this agent.
	UserManifest []permissions.Rule
	// Restricted is its level, see permissions.Set.Restrict. A child of a restricted
	// agent is restricted whatever it says.
	Restricted bool
}

// NewPolicy returns a policy that begins with the given rules.
func NewPolicy(set permissions.Set) *Policy { return &Policy{set: set} }

// Delegate returns the policy of a subagent. It follows this one: a change of mode, an
// answer that denies, trust that comes or goes hold at its next call. What is remembered
// in it holds for the subagent alone.
func (p *Policy) Delegate(d PolicyDelegation) *Policy {
	child := &Policy{parent: p, delegation: d}
	child.mu.Lock()
	defer child.mu.Unlock()
	child.derive(p.current())
	return child
}

// ApplyManifest adds the rules of the manifest that the main agent uses instead of the shipped one.
// Call it before the first call.
func (p *Policy) ApplyManifest(d PolicyDelegation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delegation = d
	p.set = p.set.With(permissions.Manifest, d.Manifest...).WithUserManifest(d.UserManifest...)
	if d.Restricted {
		p.set = p.set.Restrict()
	}
	p.version++
}

// restricted reports whether the policy, or one that it was delegated from, is.
func (p *Policy) restricted() bool {
	return p.delegation.Restricted || p.parent != nil && p.parent.restricted()
}

// Rules returns a snapshot.
func (p *Policy) Rules() permissions.Set {
	set, _ := p.current()
	return set
}

// current returns a snapshot and its version. Locks are taken from a child to its
// parent, never the other way.
func (p *Policy) current() (permissions.Set, uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parent != nil {
		if above, version := p.parent.current(); version != p.parentVersion {
			p.derive(above, version)
		}
	}
	return p.set, p.version
}

// derive makes a child's rules from those of its parent, under the lock.
func (p *Policy) derive(above permissions.Set, version uint64) {
	d := p.delegation
	p.set = above.Child(d.Manifest).WithUserManifest(d.UserManifest...).With(permissions.Session, p.answers...)
	if d.Restricted {
		p.set = p.set.Restrict()
	}
	p.parentVersion = version
	p.version++
}

// SetDefaults replaces the defaults, as a change of mode does.
func (p *Policy) SetDefaults(rules []permissions.Rule) { p.Replace(permissions.DefaultScope, rules) }

// Replace replaces all rules of a scope. A subagent has a session's scope of its own; its
// other rules are those of the policy that it was delegated from, and Replace leaves them
// as they are.
func (p *Policy) Replace(scope permissions.Scope, rules []permissions.Rule) {
	p.change(scope, func([]permissions.Rule) []permissions.Rule { return rules })
}

// Remember adds rules to the session's scope, from now on. They take the place of those
// that were the same answer about a tool before it changed.
func (p *Policy) Remember(rules ...permissions.Rule) {
	p.change(permissions.Session, func(have []permissions.Rule) []permissions.Rule {
		have = slices.DeleteFunc(slices.Clone(have), func(old permissions.Rule) bool {
			return slices.ContainsFunc(rules, func(r permissions.Rule) bool { return r.Renews(old) })
		})
		return append(have, stamped(rules)...)
	})
}

// rememberForSession is Remember for rules that may not be stored for the project, see MayKeep.
func (p *Policy) rememberForSession(rules ...permissions.Rule) {
	p.Remember(rules...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessionOnly = append(p.sessionOnly, rules...)
}

// Restore adds rules to the session's scope as they were in an earlier process; sessionOnly are
// the ones that may not be stored for the project.
func (p *Policy) Restore(rules, sessionOnly []permissions.Rule) {
	p.Add(permissions.Session, rules...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessionOnly = append(p.sessionOnly, sessionOnly...)
}

// MayKeep reports whether a rule of the session's scope may be stored for the project: the
// answer that added it could have been given for the project as well (R152).
func (p *Policy) MayKeep(rule permissions.Rule) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(p.sessionOnly, func(here permissions.Rule) bool {
		return here.Permission == rule.Permission && here.Pattern == rule.Pattern
	})
}

// Add adds rules to a scope; see Replace.
func (p *Policy) Add(scope permissions.Scope, rules ...permissions.Rule) {
	p.change(scope, func(have []permissions.Rule) []permissions.Rule { return append(have, rules...) })
}

// Forget takes a rule out of the session's scope and reports whether it was there.
func (p *Policy) Forget(rule permissions.Rule) (had bool) {
	p.change(permissions.Session, func(have []permissions.Rule) []permissions.Rule {
		left := slices.DeleteFunc(slices.Clone(have), func(r permissions.Rule) bool { return r == rule })
		had = len(left) < len(have)
		return left
	})
	return had
}

// change replaces the rules of a scope by what edit makes of a copy of them.
func (p *Policy) change(scope permissions.Scope, edit func([]permissions.Rule) []permissions.Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parent != nil && scope != permissions.Session {
		return
	}
	rules := edit(p.set.In(scope))
	p.set = p.set.Replace(scope, rules)
	p.version++
	if p.parent != nil {
		p.answers = p.set.In(scope)
	}
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
