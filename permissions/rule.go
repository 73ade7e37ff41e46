package permissions

import (
	"slices"
	"time"

	"acp-agent/capability"
)

// Rule is one row of a rule list (R114).
type Rule struct {
	// Permission is a tool id ("bash"), a capability ("fs.write"), an MCP tool
	// ("mcp:server:tool"), or a form with "*" ("mcp:server:*", "*").
	Permission string `json:"permission"`
	// Pattern is matched against each resource of the call: a glob over a path, a glob
	// over the text of one parsed command, or a host. Empty, "*" and "**" match all.
	Pattern string            `json:"pattern"`
	Action  capability.Action `json:"action"`
	// Source says where the rule came from, for people: a file and line, "default".
	Source string `json:"source,omitempty"`
	// For is the tool that an answer was given for: a rule of SourceAlways that allows a tool
	// from elsewhere holds while that is what it was (M1, M4). Zero for the agent's own tools
	// and for written rules.
	For Identity `json:"for,omitzero"`
	// AddedAt is when a stored rule was added; zero when unknown.
	AddedAt time.Time `json:"added_at,omitzero"`
}

// Scope says where a rule comes from. A later scope wins a tie (R115).
type Scope uint8

// The scopes, weakest first.
const (
	DefaultScope Scope = iota
	Manifest
	User
	Project
	Session

	scopeCount = int(Session) + 1
)

// String returns the name of the scope, as messages and stored rules show it.
func (s Scope) String() string {
	switch s {
	case DefaultScope:
		return "defaults"
	case Manifest:
		return "manifest"
	case User:
		return "user"
	case Project:
		return "project"
	case Session:
		return "session"
	default:
		return "unknown"
	}
}

// Set is an immutable snapshot of the rules of all scopes, for one agent. With, Child
// and the like return new snapshots, so a decision that is under way is not disturbed by
// a rule that arrives meanwhile. The zero value asks about everything.
type Set struct {
	scopes [scopeCount][]Rule
	// userManifest are the rules that the user wrote for this very agent.
	userManifest []Rule
	// restricted, see Restrict.
	restricted bool
	// parent holds what the delegating agent hands down; its answer bounds this one's.
	parent *Set
}

// With returns a snapshot that also holds the rules, in the given scope. A scope that
// does not exist leaves the set as it is.
func (s Set) With(scope Scope, rules ...Rule) Set {
	if int(scope) >= scopeCount {
		return s
	}
	s.scopes[scope] = slices.Concat(s.scopes[scope], rules)
	return s
}

// In returns the rules of one scope, in the order in which they were added. The list is
// the caller's.
func (s Set) In(scope Scope) []Rule {
	if int(scope) >= scopeCount {
		return nil
	}
	return slices.Clone(s.scopes[scope])
}

// Replace returns a snapshot in which the rules are all that the scope holds. A change
// of mode replaces DefaultScope with the rows of the new mode and nothing else (R115).
func (s Set) Replace(scope Scope, rules []Rule) Set {
	if int(scope) >= scopeCount {
		return s
	}
	s.scopes[scope] = slices.Clone(rules)
	return s
}
