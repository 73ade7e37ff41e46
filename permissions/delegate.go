package permissions

import (
	"slices"

	"acp-agent/capability"
)

// Child returns the rules of an agent to which this one delegates (R64). The child
// starts with the same default, user and project rules and its own manifest. What this
// agent would answer bounds it for ever: a deny of any scope is lifted by nothing, an
// ask only by what the user allows to the child itself, which are the allows of
// WithUserManifest and the rules that With adds to its session scope. What the user allowed to this agent
// is not handed down, neither to the child nor into the bound.
func (s Set) Child(manifest []Rule) Set {
	bound := s
	bound.scopes[Session], bound.userManifest = withoutAllows(s.scopes[Session]), withoutAllows(s.userManifest)
	child := s
	child.scopes[Manifest] = slices.Clone(manifest)
	child.scopes[Session], child.userManifest = nil, nil
	child.parent = &bound
	return child
}

// WithUserManifest returns a snapshot that also holds rules which the user wrote for this very
// agent, in a manifest in their own directory. They are as strong as the rules of User.
func (s Set) WithUserManifest(rules ...Rule) Set {
	s.userManifest = slices.Concat(s.userManifest, rules)
	return s
}

// WithProjectRules returns a snapshot as it will be when the user stores the rules for the project:
// then they hold for every agent in it.
func (s Set) WithProjectRules(rules ...Rule) Set {
	if s.parent != nil {
		parent := s.parent.WithProjectRules(rules...)
		s.parent = &parent
	}
	return s.With(Project, rules...)
}

// lineage is a set and the sets that bound it, the nearest first, each with what the user
// allowed to the agent that asks.
type lineage []Set

func (s Set) lineage() lineage {
	own := s
	own.scopes[User] = join(s.scopes[User], s.userManifest)
	all := lineage{own}
	if s.parent == nil {
		return all
	}
	manifest, answers := onlyAllows(s.userManifest), onlyAllows(s.scopes[Session])
	for bound := s.parent; bound != nil; bound = bound.parent {
		above := *bound
		above.userManifest = join(above.userManifest, manifest)
		above.scopes[User] = join(above.scopes[User], above.userManifest)
		above.scopes[Session] = join(above.scopes[Session], answers)
		all = append(all, above)
	}
	return all
}

// decidePair returns the strictest answer of the lineage to one pair.
func (l lineage) decidePair(call Call, names []string, p pair) Decision {
	worst := l[0].decidePair(call, names, p)
	for _, above := range l[1:] {
		d := above.decidePair(call, names, p)
		sandboxed := d.Sandboxed || worst.Sandboxed
		if d.Action.Stricter(worst.Action) {
			worst = d
			worst.Reason += " (a bound of the delegating agent)"
		}
		worst.Sandboxed = sandboxed
	}
	return worst
}

// join returns both lists as one, without a copy where one is empty.
func join(a, b []Rule) []Rule {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	return slices.Concat(a, b)
}

func onlyAllows(rules []Rule) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Action != capability.Allow })
}

func withoutAllows(rules []Rule) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Action == capability.Allow })
}
