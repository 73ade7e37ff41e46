package pipeline

import (
	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
)

// Program is a program of the user or a project that runs as long as the session, such as an MCP server.
type Program struct {
	// For identifies the program in answers about its hosts, so that they open the hosts to it alone.
	For permissions.Identity
	// Hosts are the hosts that its configuration lists, in the form of permissions.HostPattern.
	Hosts []string
}

// Unlisted is a host that neither its configuration nor an answer opens to a program.
type Unlisted struct {
	// Host is in the form of rules and lists.
	Host string
	// Private says why it is not on the public web, and where its name leads; "" when it is.
	Private string
	// Always are the rules that open the host to the program; none when the user has to be asked each time.
	Always []permissions.Rule
}

// MayConnect decides whether a program may connect to a host: its list opens hosts, and so do the
// answers about this program; no other rule does. What rules deny to commands or to web_fetch they deny to
// it. By names what decided, as in a [HostDecision]. A *egress.Refusal says why not; unlisted is not nil where the
// user may be asked.
func (p Program) MayConnect(rules permissions.Set, to egress.Destination) (by string, unlisted *Unlisted, err error) {
	fetch := permissions.Call{
		Tool: fetchTool, Capabilities: []string{capability.CapNetFetch}, Identity: p.For,
		Resources: []permissions.Resource{hostResource(namedForRules(to).Host)},
	}
	connect := fetch
	connect.Tool, connect.Resources = permissions.NetworkTool, []permissions.Resource{connectionResource(to)}
	decision := rules.Decide(connect)
	for _, d := range []permissions.Decision{rules.Decide(fetch), decision} {
		// A mode's denial applies to tools, not to a program that runs in all modes.
		if d.Action == capability.Deny && d.Rule != nil && d.Scope > permissions.DefaultScope {
			return ruleName(d), nil, &egress.Refusal{Reason: d.Reason}
		}
	}
	var listed permissions.Set
	for _, host := range p.Hosts {
		listed = listed.With(permissions.User, permissions.Rule{Permission: permissions.NetworkTool, Pattern: host, Action: capability.Allow})
	}
	byList := listed.Decide(connect)
	switch {
	case byList.Action == capability.Allow && (to.Private == "" || byUserForHost(byList)):
		return ByList, nil, nil
	case p.answered(decision):
		return ruleName(decision), nil, nil
	}
	reason, why := "it is not among the hosts that its entry lists", ""
	if to.Private != "" {
		why = privateText(to)
		reason += ", and it is not on the public web (" + why + ")"
	}
	name := connect.Resources[0].Name
	always := permissions.Rule{
		Permission: permissions.NetworkTool, Pattern: name, Action: capability.Allow, Source: permissions.SourceAlways, For: p.For,
	}
	return ByList, &Unlisted{Host: name, Private: why, Always: []permissions.Rule{always}}, &egress.Refusal{Reason: reason}
}

// answered reports whether a decision rests on an answer about this program and host.
func (p Program) answered(d permissions.Decision) bool {
	return d.Action == capability.Allow && d.Rule != nil && d.Rule.Source == permissions.SourceAlways && p.For != permissions.Identity{} && d.Rule.For.Same(p.For)
}
