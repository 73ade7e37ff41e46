package pipeline

import (
	"crypto/sha256"
	"slices"

	"acp-agent/tools"
)

// Tools is the registry in force.
func (p *Pipeline) Tools() *tools.Registry { return p.registry.Load() }

// Adopt puts another registry in force: tools come and go with those that have them. What
// the model may call changes with its next request. It is called between two turns, for a
// list of tools does not change within one (R91). changed are the tools from elsewhere that
// are not described as they last were, also when they were away meanwhile: what a person
// allowed was another tool (M4).
func (p *Pipeline) Adopt(registry *tools.Registry) (changed []string) {
	p.adopting.Lock()
	defer p.adopting.Unlock()
	p.described.note(p.registry.Swap(registry))
	enabled := p.enabled()
	p.declare(enabled)
	p.catalogue.replace(enabled)
	return p.described.note(registry)
}

// descriptions are the last ones of tools from elsewhere, by id, as hashes.
type descriptions map[string][sha256.Size]byte

// note keeps the descriptions of a registry, and returns the ids of those that were
// others before.
func (d descriptions) note(registry *tools.Registry) (changed []string) {
	for _, entry := range registry.All() {
		if !entry.Foreign() {
			continue
		}
		sum := sha256.Sum256(slices.Concat([]byte(entry.Description), []byte{0}, entry.Schema()))
		if last, known := d[entry.ID]; known && last != sum {
			changed = append(changed, entry.ID)
		}
		d[entry.ID] = sum
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
