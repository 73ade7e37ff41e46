package pipeline

import (
	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
)

// ConnectListed decides whether a program whose configuration lists hosts may connect to one: the
// list opens hosts, in the form of permissions.HostPattern, and no other rule does; what rules deny
// to commands or to web_fetch they deny to it. A *egress.Refusal says why not; unlisted says that
// the list lacks the host, under the name that is returned.
func ConnectListed(rules permissions.Set, hosts []string, to egress.Destination) (unlisted string, err error) {
	fetch := permissions.Call{
		Tool: fetchTool, Capabilities: []string{capability.CapNetFetch},
		Resources: []permissions.Resource{hostResource(ruled(to).Host)},
	}
	connect := fetch
	connect.Tool, connect.Resources = permissions.NetworkTool, []permissions.Resource{connectionResource(to)}
	for _, call := range []permissions.Call{fetch, connect} {
		// What a mode leaves to no tool says nothing of a server that runs in all modes.
		if d := rules.Decide(call); d.Action == capability.Deny && d.Rule != nil && d.Scope > permissions.DefaultScope {
			return "", &egress.Refusal{Reason: d.Reason}
		}
	}
	var listed permissions.Set
	for _, host := range hosts {
		listed = listed.With(permissions.User, permissions.Rule{Permission: permissions.NetworkTool, Pattern: host, Action: capability.Allow})
	}
	d := listed.Decide(connect)
	if d.Action == capability.Allow && (to.Private == "" || namesPrivate(d)) {
		return "", nil
	}
	reason := "it is not in the list of hosts of this server"
	if to.Private != "" {
		reason += ", and it is not on the public web (" + private(to) + ")"
	}
	return connect.Resources[0].Name, &egress.Refusal{Reason: reason}
}
