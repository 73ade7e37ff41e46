package pipeline

import "acp-agent/tools"

// Tools returns the current registry.
func (p *Pipeline) Tools() *tools.Registry { return p.registry.Load() }

// Adopt replaces the registry, as when a server gains or loses tools, from the next model request on.
// Call it between turns: tools do not change within one (R91).
func (p *Pipeline) Adopt(registry *tools.Registry) {
	p.registry.Store(registry)
	enabled := p.enabled()
	p.declare(enabled)
	p.catalogue.replaceTools(enabled)
}

// enabled returns the tools that are not switched off.
func (p *Pipeline) enabled() []*tools.Entry {
	var enabled []*tools.Entry
	for _, entry := range p.Tools().All() {
		if p.off(entry) == "" {
			enabled = append(enabled, entry)
		}
	}
	return enabled
}
