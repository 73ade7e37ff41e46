package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"acp-agent/config"
	"acp-agent/internal/netns"
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
		switch {
		case provider.Network.Open():
			open = append(open, "provider "+name)
		case len(provider.Network.Hosts) > 0 && tellsHostsApart(report):
			byHost = append(byHost, "provider "+name+" (only "+strings.Join(provider.Network.Hosts, " ")+")")
		default:
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

// commandNetworkFinding says whether commands have the network by host. try makes the network that they would share, and
// ends it. ok is false where the line about the sandbox says all there is to say.
func commandNetworkFinding(report sandbox.Report, wanted config.Sandbox, try func() error) (_ finding, ok bool) {
	if !report.Confines() || !report.Network || wanted.Network {
		return finding{}, false
	}
	f := finding{Name: "network of commands", Status: doctorOK, Detail: "by host: you are asked about each"}
	if !tellsHostsApart(report) {
		f.Detail = fmt.Sprintf("all of it or none: %s cannot tell hosts apart", report.Kind)
	} else if err := try(); err != nil {
		f.Status, f.Detail = doctorWarn, "all of it or none, because commands cannot share a network of their own here: "+err.Error()
	}
	return f, true
}

// tryCommandNetwork makes the network that commands share in a sandbox, and ends it.
func (c *core) tryCommandNetwork(report sandbox.Report) error {
	if !report.Kind.HasView() {
		return nil // commands share that of the machine
	}
	space, err := netns.Start(c.launcher.Self, report.Apart())
	if err == nil {
		space.Close()
	}
	return err
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
