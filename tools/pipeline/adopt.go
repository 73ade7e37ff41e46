package pipeline

import "acp-agent/tools"

// Tools is the registry in force.
func (p *Pipeline) Tools() *tools.Registry { return p.registry.Load() }

// Adopt puts another registry in force: tools come and go with those that have them. What
// the model may call changes with its next request. It is called between two turns, for a
// list of tools does not change within one (R91).
func (p *Pipeline) Adopt(registry *tools.Registry) {
	p.registry.Store(registry)
	enabled := p.enabled()
	p.declare(enabled)
	p.catalogue.replace(enabled)
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
