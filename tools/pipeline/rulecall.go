package pipeline

import (
	"acp-agent/capability"
	"acp-agent/internal/network"
	"acp-agent/permissions"
)

// ruleCall is a call as rules see it, without what it touches.
func (p *Pipeline) ruleCall(c *Prepared) permissions.Call {
	session := p.Workspace.Session()
	call := permissions.Call{
		Tool: c.Tool, Capabilities: capabilities(c.entry.Requires), Home: p.Home, Own: p.Own, Secret: p.Workspace.SecretName,
		Vars: capability.Vars{
			capability.VarWorkspace: session.Roots,
			permissions.VarScratch:  {session.Scratch},
			// Defined even when it is empty, because the shipped rules name it.
			permissions.VarGrantedHosts: p.Session.Hosts(),
		},
	}
	for _, alias := range c.entry.Aliases {
		call.Aliases = append(call.Aliases, alias.Name)
	}
	p.identify(&call, c)
	return call
}

// Denies reports whether rules deny the calls of a tool whatever they touch. A tool that is
// not there has no more than its id for them.
func (p *Pipeline) Denies(id string) bool {
	call := permissions.Call{Tool: id}
	if entry, there := p.Tools().Get(id); there {
		call = p.ruleCall(&Prepared{Tool: entry.ID, entry: entry})
	}
	return p.Policy.Rules().Decide(call).Action == capability.Deny
}

// MayRead reports whether nothing stands against reading a file for the user: it lies inside the
// session's directories, and the rules let the tool that reads files read it without a question.
// A watchdog sees calls alone, so that with one the answer is no.
func (p *Pipeline) MayRead(path string) bool {
	entry, there := p.Tools().Get(readTool)
	access, err := p.Workspace.Check(path, false)
	if !there || err != nil || !access.Inside || p.Watchdog != nil {
		return false
	}
	call := p.ruleCall(&Prepared{Tool: entry.ID, entry: entry})
	call.Resources = []permissions.Resource{{
		Kind: permissions.Path, Name: access.Real, Requested: []string{access.Path}, Capability: capability.CapFSRead,
	}}
	return p.Policy.Rules().Decide(call).Action == capability.Allow
}

// readTool is the tool that reads files.
const readTool = "read"

// hostResource is a host under the name that it is asked by and, for what denies or asks,
// the one that people read.
func hostResource(name string) permissions.Resource {
	host := permissions.Resource{Kind: permissions.Host, Name: name}
	if readable := network.Readable(name); readable != name {
		host.Requested = []string{readable}
	}
	return host
}

// capabilities names what a requirement set needs, as rules name it.
func capabilities(set capability.RequirementSet) []string {
	var names []string
	if len(set.FS.Read) > 0 {
		names = append(names, capability.CapFSRead)
	}
	if len(set.FS.Write) > 0 {
		names = append(names, capability.CapFSWrite)
	}
	if len(set.Shell) > 0 {
		names = append(names, capability.CapShellRun)
	}
	if !set.Net.IsZero() {
		names = append(names, capability.CapNetFetch)
	}
	return append(names, set.Capabilities...)
}
