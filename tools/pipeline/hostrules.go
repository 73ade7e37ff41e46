package pipeline

import (
	"context"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/internal/network"
	"acp-agent/permissions"
)

// fetchTool is the tool whose denials apply to connections, too.
const fetchTool = "web_fetch"

// judgeConnection asks the rules, then the watchdog. What web_fetch may not reach, no command may. A denial is a
// *egress.Refusal.
func (c *connections) judgeConnection(ctx context.Context, to egress.Destination) (permissions.Decision, error) {
	rules := c.pipeline.Policy.Rules()
	fetch := c.pipeline.ruleCall(c.Prepared)
	fetch.Tool, fetch.Aliases, fetch.Capabilities = fetchTool, nil, []string{capability.CapNetFetch}
	fetch.Resources = []permissions.Resource{hostResource(namedForRules(to).Host)}
	connect := fetch
	connect.Tool = permissions.NetworkTool
	connect.Resources = []permissions.Resource{connectionResource(to)}
	decision := rules.Decide(connect)
	for _, d := range []permissions.Decision{rules.Decide(fetch), decision} {
		if d.Action == capability.Deny {
			return d, &egress.Refusal{Reason: d.Reason}
		}
	}
	if c.pipeline.Watchdog != nil {
		watched := c.watchdog.watched(ctx)
		watched.Tool, watched.Resources, watched.Capabilities = fetchTool, fetch.Resources, fetch.Capabilities
		verdict, err := c.pipeline.Watchdog.Judge(ctx, watched)
		switch {
		case err != nil:
			return permissions.Decision{Layer: permissions.LayerWatchdog}, &egress.Refusal{Reason: "the watchdog failed: " + err.Error()}
		case verdict.Action == capability.Deny:
			return permissions.Decision{Layer: permissions.LayerWatchdog}, &egress.Refusal{Reason: verdict.Reason}
		case verdict.Action == capability.Ask:
			return permissions.Decision{Action: capability.Ask, Reason: verdict.Reason, NoAlways: "the watchdog asks each time"}, nil
		}
	}
	switch {
	case decision.Action != capability.Allow || decision.Rule == nil:
	case byProjectFile(decision):
		decision.Action, decision.Reason = capability.Ask, "a project's file opens no host"
	case to.Private != "" && !byUserForHost(decision):
		decision.Action, decision.Reason = capability.Ask, "it is not on the public web"
	}
	return decision, nil
}

// namedForRules returns a destination under the name that rules must use: its address, if its name leads to one
// that is not public. The owner of a name chooses its addresses, so a rule for the name must not
// open this machine and its neighbours.
func namedForRules(to egress.Destination) egress.Destination {
	if to.Addr.IsValid() {
		to.Host = to.Addr.String()
	}
	return to
}

// byProjectFile reports whether a decision rests on a rule in a project's file, and not on an answer of
// the user's that was stored for the project.
func byProjectFile(d permissions.Decision) bool {
	return d.Scope == permissions.Project && d.Rule.Source != permissions.SourceAlways
}

// byUserForHost reports whether a decision rests on a rule of the user's for exactly this host. A rule for
// many hosts does not open this machine and its neighbours.
func byUserForHost(d permissions.Decision) bool {
	return d.Scope >= permissions.User && d.Rule.Pattern != "" && !strings.Contains(d.Rule.Pattern, "*")
}

// hostResource returns a host for rules, under the name in the request. Rules that deny or ask also
// match the readable form of an international name.
func hostResource(name string) permissions.Resource {
	host := permissions.Resource{Kind: permissions.Host, Name: name}
	if readable := network.Readable(name); readable != name {
		host.Requested = []string{readable}
	}
	return host
}

// connectionResource returns host and port in the form of rules, which leaves out port 443.
func connectionResource(to egress.Destination) permissions.Resource {
	to = namedForRules(to)
	resource := hostResource(to.Host)
	resource.Requested = append(resource.Requested, to.Host)
	if resource.Name = to.Pair(); to.Port == 443 {
		resource.Name = to.Host
	}
	return resource
}
