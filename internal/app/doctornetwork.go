package app

import (
	"maps"
	"slices"
	"strings"

	"acp-agent/config"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/sandbox"
)

// maxShownName bounds the name of a server in a finding, in runes.
const maxShownName = 60

// networkFinding says what the programs that tools come from have of the network: MCP servers,
// providers and the scripts of the toolbox. Servers of the editor are not known here. ok is false where the configuration names none.
func networkFinding(cfg *config.Config, report sandbox.Report) (_ finding, ok bool) {
	var open, byHost, outside, closed []string
	for _, server := range slices.Concat(ownServers(cfg), offeredServers(cfg)) {
		name := "MCP server " + kinds.Line(server.Name, maxShownName) // a project chose it
		switch {
		case server.Command == "":
		case server.Unconfined:
			outside = append(outside, name)
		case tellsHostsApart(report) && (server.Hosts != nil || server.AsksHosts):
			byHost = append(byHost, name+" ("+hostsOf(server)+")")
		case server.Hosts != nil:
			closed = append(closed, name)
		default:
			open = append(open, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.External.ToolProviders)) {
		provider := cfg.External.ToolProviders[name]
		if provider.Command == "" {
			continue
		}
		if provider.Network {
			open = append(open, "provider "+name)
		} else {
			closed = append(closed, "provider "+name)
		}
	}
	if cfg.Toolbox.Network {
		open = append(open, "toolbox")
	}
	var words []string
	for _, group := range []struct {
		what  string
		names []string
	}{{"open to", open}, {"by host to", byHost}, {"closed to", closed}, {"outside the sandbox", outside}} {
		if len(group.names) > 0 {
			words = append(words, group.what+" "+strings.Join(group.names, ", "))
		}
	}
	f := finding{Name: "network of tools", Status: doctorOK, Detail: strings.Join(words, "; ")}
	return f, len(words) > 0
}

// tellsHostsApart reports a sandbox that can hold a program to the agent's proxy.
func tellsHostsApart(r sandbox.Report) bool {
	return r.Network && (r.Kind.HasView() || r.Kind == sandbox.Seatbelt)
}

// hostsOf says which hosts a server reaches.
func hostsOf(server mcp.Server) string {
	switch {
	case server.AsksHosts:
		return "you are asked"
	case len(server.Hosts) == 0:
		return "none"
	}
	return "only " + strings.Join(server.Hosts, " ")
}
