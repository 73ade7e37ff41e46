package pipeline

import (
	"bytes"

	"acp-agent/tools"
)

// Tools is the registry in force.
func (p *Pipeline) Tools() *tools.Registry { return p.registry.Load() }

// Adopt puts another registry in force: tools come and go with those that have them. What
// the model may call changes with its next request. It is called between two turns, for a
// list of tools does not change within one (R91). changed are the tools from elsewhere that
// are no longer described as they were: what a person allowed was another tool (M4).
func (p *Pipeline) Adopt(registry *tools.Registry) (changed []string) {
	before := p.registry.Swap(registry)
	p.catalogue.replace(p.enabled())
	for _, entry := range registry.All() {
		old, known := before.Get(entry.ID)
		if known && entry.Foreign() && old != entry &&
			(old.Description != entry.Description || !bytes.Equal(old.Schema(), entry.Schema())) {
			changed = append(changed, entry.ID)
		}
	}
	return changed
}

// enabled are the tools that are not off.
func (p *Pipeline) enabled() []*tools.Entry {
	var enabled []*tools.Entry
	for _, entry := range p.Tools().All() {
		if p.off(entry) == "" {
			enabled = append(enabled, entry)
		}
	}
	return enabled
}
