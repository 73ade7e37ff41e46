package permissions

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/capability"
)

// Identity is what a tool from elsewhere was when a user allowed it (M1, M4): hashes of its
// description, of its schema and of what runs, and two texts for the user to read, without
// keys. The agent's own tools have the zero Identity. It can be compared with ==, but two
// are of the same tool when their hashes are equal, see Same.
type Identity struct {
	// Description, Parameters and Origin are hashes: of the text that the model reads, of
	// the schema, and of the program or address behind the tool.
	Description string `json:"description,omitempty"`
	Parameters  string `json:"parameters,omitempty"`
	Origin      string `json:"origin,omitempty"`
	// DescriptionStart is the beginning of the description, OriginName the program or host.
	DescriptionStart string `json:"says,omitempty"`
	OriginName       string `json:"place,omitempty"`
}

// Same reports whether both are of one tool that has not changed.
func (i Identity) Same(other Identity) bool {
	return i.Description == other.Description && i.Parameters == other.Parameters && i.Origin == other.Origin
}

// changes says in words what of a tool is not as it was.
func (i Identity) changes(now Identity) string {
	var list []string
	if i.Description != now.Description {
		list = append(list, "its description"+wasIs(i.DescriptionStart, now.DescriptionStart))
	}
	if i.Parameters != now.Parameters {
		list = append(list, "the schema of its arguments")
	}
	if i.Origin != now.Origin {
		list = append(list, "the program or address behind it"+wasIs(i.OriginName, now.OriginName))
	}
	switch len(list) {
	case 1:
		return list[0] + " has changed"
	case 0:
		return ""
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1] + " have changed"
}

// wasIs shows both beginnings, where they tell anything.
func wasIs(was, is string) string {
	if was == "" || was == is {
		return ""
	}
	return fmt.Sprintf(" (was %q, is %q)", was, is)
}

// stale says that the user allowed the tool before, and what has changed since; empty when
// they did not, or nothing has changed.
func (s Set) stale(call Call) string {
	if call.Identity == (Identity{}) {
		return ""
	}
	for scope := scopeCount - 1; scope >= 0; scope-- {
		rules := s.scopes[scope]
		for i := len(rules) - 1; i >= 0; i-- { // the last answer tells most
			r := rules[i]
			if r.Source != SourceAlways || r.Action != capability.Allow || r.Permission != call.Tool || r.For == (Identity{}) {
				continue
			}
			if changes := r.For.changes(call.Identity); changes != "" {
				return "you allowed this tool before; since then " + changes
			}
		}
	}
	return ""
}

// mayUse reports whether a rule is about a whole capability that the program or address behind the
// tool may use.
func (c Call) mayUse(rule Rule) bool {
	return matchesAll(rule.Pattern) && slices.ContainsFunc(c.AssumedCapabilities, func(name string) bool {
		return rankPermission(rule.Permission, nil, name) != noMatch
	})
}

// reachesOut reports whether the call is of a tool from elsewhere that may use the network.
func (c Call) reachesOut() bool {
	return slices.Contains(c.AssumedCapabilities, capability.CapNetFetch)
}

// namesServer reports whether a permission uses the name of a server, or of a tool of one, and is
// not for all servers.
func namesServer(permission string) bool {
	rest, ok := strings.CutPrefix(permission, "mcp:")
	end := ":"
	if !ok {
		rest, end = strings.TrimPrefix(permission, "mcp__"), "__"
	}
	server, _, _ := strings.Cut(rest, end)
	return strings.Trim(server, "*") != ""
}

// Renews reports whether a rule is the same answer as another, about a tool that has
// changed since.
func (r Rule) Renews(old Rule) bool {
	return r.Source == SourceAlways && old.Source == SourceAlways && r.Permission == old.Permission && r.Pattern == old.Pattern &&
		r.Action == old.Action && !r.For.Same(old.For)
}
