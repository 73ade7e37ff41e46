package pipeline

import (
	"acp-agent/capability"
	"acp-agent/permissions"
)

// ruleCall returns a call in the form that rules judge, without its resources.
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

// Denies reports whether rules deny all calls of a tool, whatever they touch. For a tool that does
// not exist the rules see its id alone.
func (p *Pipeline) Denies(id string) bool {
	call := permissions.Call{Tool: id}
	if entry, there := p.Tools().Get(id); there {
		call = p.ruleCall(&Prepared{Tool: entry.ID, entry: entry})
	}
	return p.Policy.Rules().Decide(call).Action == capability.Deny
}

// MayRead reports whether the agent may read a file for the user without a tool call: the file lies
// inside the session's directories, and the rules allow readTool to read it. The answer is no
// when there is a watchdog, because it judges only tool calls.
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

// capabilities returns the capabilities of a requirement set, by the names that rules use.
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
