package pipeline

import (
	"slices"
	"sync"
	"time"

	"acp-agent/permissions"
)

// Policy holds the current rules of one agent of a session. They change during the session: a mode
// replaces the defaults, answers add to the session's scope. Policy is safe for concurrent use.
type Policy struct {
	mu  sync.Mutex
	set permissions.Set
	// version counts the changes of set.
	version uint64
	// parent is the policy that set is derived from, as it was at parentVersion; nil for the main
	// agent. parent never changes, and delegation only in ApplyManifest.
	parent        *Policy
	delegation    PolicyDelegation
	parentVersion uint64
	// answers are the rules of a delegated policy in the session's scope.
	answers []permissions.Rule
	// sessionOnly are the rules in the session's scope that may not be stored for the project.
	sessionOnly []permissions.Rule
}

// PolicyDelegation is what a subagent adds to the rules of its parent (R64).
type PolicyDelegation struct {
	// Manifest are the rules of a manifest that the project wrote or that is shipped; they can
	// only narrow.
	Manifest []permissions.Rule
	// UserManifest are the rules of a manifest in the user's own folder: an allow counts as the
	// user's answer for this agent.
	UserManifest []permissions.Rule
	// Restricted restricts the agent, see permissions.Set.Restrict. A child of a restricted agent
	// is restricted in any case.
	Restricted bool
}

// NewPolicy returns a policy with the given rules.
func NewPolicy(set permissions.Set) *Policy { return &Policy{set: set} }

// Delegate returns the policy of a subagent. It follows this one: a change of mode, a denying answer, and
// trust given or withdrawn apply to the subagent's next call. Rules remembered in it apply to the
// subagent alone.
func (p *Policy) Delegate(d PolicyDelegation) *Policy {
	child := &Policy{parent: p, delegation: d}
	child.mu.Lock()
	defer child.mu.Unlock()
	child.derive(p.current())
	return child
}

// ApplyManifest adds the rules of the manifest that the main agent uses instead of the shipped one.
// Call it before [New], which asks once whether the agent is restricted.
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

// restricted reports whether the policy, or one above it, is restricted.
func (p *Policy) restricted() bool {
	return p.delegation.Restricted || p.parent != nil && p.parent.restricted()
}

// Rules returns a snapshot of the rules.
func (p *Policy) Rules() permissions.Set {
	set, _ := p.current()
	return set
}

// current returns a snapshot of the rules and its version. It locks a child before its parent, never the
// other way round.
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

// derive makes the rules of a child from those of its parent. The caller holds mu.
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

// Replace replaces all rules of a scope. In the policy of a subagent it changes only the session's scope:
// the rules of the other scopes come from the parent.
func (p *Policy) Replace(scope permissions.Scope, rules []permissions.Rule) {
	p.change(scope, func([]permissions.Rule) []permissions.Rule { return rules })
}

// Remember adds rules to the session's scope. A rule replaces the same answer about an earlier version of
// the tool.
func (p *Policy) Remember(rules ...permissions.Rule) {
	p.change(permissions.Session, func(have []permissions.Rule) []permissions.Rule {
		have = slices.DeleteFunc(slices.Clone(have), func(old permissions.Rule) bool {
			return slices.ContainsFunc(rules, func(r permissions.Rule) bool { return r.Renews(old) })
		})
		return append(have, stamped(rules)...)
	})
}

// rememberForSession is Remember for rules that may not be stored for the project, see MayStore.
func (p *Policy) rememberForSession(rules ...permissions.Rule) {
	p.Remember(rules...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessionOnly = append(p.sessionOnly, rules...)
}

// Restore adds the rules of an earlier process to the session's scope; sessionOnly are the rules among them
// that may not be stored for the project.
func (p *Policy) Restore(rules, sessionOnly []permissions.Rule) {
	p.Add(permissions.Session, rules...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessionOnly = append(p.sessionOnly, sessionOnly...)
}

// MayStore reports whether a rule in the session's scope may be stored for the project: the card
// with that question offered to answer for the project as well (R152).
func (p *Policy) MayStore(rule permissions.Rule) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(p.sessionOnly, func(only permissions.Rule) bool {
		return only.Permission == rule.Permission && only.Pattern == rule.Pattern
	})
}

// Add adds rules to a scope; see Replace.
func (p *Policy) Add(scope permissions.Scope, rules ...permissions.Rule) {
	p.change(scope, func(have []permissions.Rule) []permissions.Rule { return append(have, rules...) })
}

// Forget removes a rule from the session's scope and reports whether it was there.
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

// stamped returns the rules with the time of their addition (R114).
func stamped(rules []permissions.Rule) []permissions.Rule {
	now := time.Now().UTC().Truncate(time.Second)
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].AddedAt = now
	}
	return rules
}
