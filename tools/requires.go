package tools

import "acp-agent/capability"

// Requires is the union of what all registered tools need (R112). Adding a tool
// adds to it, with no other change.
func (r *Registry) Requires() capability.RequirementSet {
	sets := make([]capability.RequirementSet, 0, len(r.ordered))
	for _, entry := range r.ordered {
		sets = append(sets, entry.Requires)
	}
	return capability.Union(sets...)
}
