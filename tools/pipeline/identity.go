package pipeline

import (
	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// maxIdentityText bounds what is stored with an answer of a tool's description, and of the name of its origin, in
// characters.
const maxIdentityText = 200

// Identity returns the current identity of a tool from elsewhere: an "always" for the tool holds
// as long as the identity stays the same (M1, M4). It is empty for the agent's own tools and for
// a tool that does not exist.
func (p *Pipeline) Identity(id string) permissions.Identity {
	entry, there := p.Tools().Get(id)
	if !there || !entry.Foreign() {
		return permissions.Identity{}
	}
	return p.identity(entry, entry.Provenance())
}

func (p *Pipeline) identity(entry *tools.Entry, provenance tools.Origin) permissions.Identity {
	return permissions.Identity{
		Description: tools.DigestOf(entry.Description), Parameters: tools.DigestOf(string(entry.Schema())), Origin: provenance.Digest,
		DescriptionStart: kinds.Line(p.Keys.Known(entry.Description), maxIdentityText), OriginName: kinds.Line(provenance.Place, maxIdentityText),
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

// unchanged reports whether a tool from elsewhere still has the identity that was judged: a script may
// change while the user reads the question (E6).
func (j *judgement) unchanged() bool {
	var now permissions.Call
	j.pipeline.identify(&now, j.Prepared)
	return now.Identity.Same(j.judged.Identity)
}

// assumedCapabilities returns what a tool from elsewhere is assumed to be able to do. A remote tool can
// use the network. A local program can use files and other programs, and the network too if it is
// an MCP server or declares hosts.
func assumedCapabilities(entry *tools.Entry, provenance tools.Origin) []string {
	if provenance.Remote {
		return []string{capability.CapNetFetch}
	}
	names := []string{capability.CapFSRead, capability.CapFSWrite, capability.CapShellRun}
	if entry.Source.Kind == tools.MCP || !entry.Requires.Net.IsZero() {
		names = append(names, capability.CapNetFetch)
	}
	return names
}
