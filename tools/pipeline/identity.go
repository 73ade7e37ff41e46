package pipeline

import (
	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// maxSays bounds what is kept of a tool's description with an answer, in characters.
const maxSays = 200

// Identity is what a tool is at this moment: an "always" for one from elsewhere holds as
// long as it stays that (M1, M4). Empty for the agent's own, and for a tool that is not
// there.
func (p *Pipeline) Identity(id string) permissions.Identity {
	entry, there := p.Tools().Get(id)
	if !there || !entry.Foreign() {
		return permissions.Identity{}
	}
	return p.identity(entry, entry.Provenance())
}

func (p *Pipeline) identity(entry *tools.Entry, behind tools.Origin) permissions.Identity {
	return permissions.Identity{
		Description: tools.DigestOf(entry.Description), Parameters: tools.DigestOf(string(entry.Schema())), Origin: behind.Digest,
		DescriptionStart: kinds.Line(p.Keys.Known(entry.Description), maxSays), OriginName: kinds.Line(behind.Place, maxSays),
	}
}

// identify adds to a call of a tool from elsewhere its current identity and what it is assumed to
// be able to do. A subagent keeps its old tool entries, but a stored answer is compared with the
// tool as it is now.
func (p *Pipeline) identify(call *permissions.Call, c *Prepared) {
	entry := c.entry
	if !entry.Foreign() {
		return
	}
	top := p
	for top.Parent != nil {
		top = top.Parent
	}
	if now, there := top.Tools().Get(entry.ID); there {
		entry = now
	}
	provenance := entry.Provenance()
	call.UntrustedName, call.AssumedCapabilities = provenance.UntrustedName, assumedCapabilities(entry, provenance)
	if !c.standIn {
		call.Identity = p.identity(entry, provenance)
	}
}

// unchanged reports whether a tool from elsewhere still is what it was when the call was
// judged: a script may have been changed while the user was looking (E6).
func (j *judgement) unchanged() bool {
	var now permissions.Call
	j.pipeline.identify(&now, j.Prepared)
	return now.Identity.Same(j.judged.Identity)
}

// assumedCapabilities are what a tool from elsewhere is assumed to be able to do: a remote one has
// the network; a local program has the files and other programs, and as an MCP server, or when it
// declares hosts, the network too.
func assumedCapabilities(entry *tools.Entry, behind tools.Origin) []string {
	if behind.Remote {
		return []string{capability.CapNetFetch}
	}
	names := []string{capability.CapFSRead, capability.CapFSWrite, capability.CapShellRun}
	if entry.Source.Kind == tools.MCP || !entry.Requires.Net.IsZero() {
		names = append(names, capability.CapNetFetch)
	}
	return names
}
