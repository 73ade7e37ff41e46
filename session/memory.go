package session

import (
	"slices"
	"sync"

	"acp-agent/transcript"
)

// memory is the part of the transcript that tools read and change (tools.Memory): the plan, counts, and
// hosts.
type memory struct {
	conversation *conversation
	mu           sync.Mutex // makes Count one step
}

// Plan implements tools.Memory.
func (m *memory) Plan() []transcript.PlanEntry { return m.conversation.log.Memory().Plan }

// SetPlan implements tools.Memory.
func (m *memory) SetPlan(entries []transcript.PlanEntry) {
	m.conversation.record(transcript.PlanChanged{Entries: slices.Clone(entries)})
}

// Count implements tools.Memory.
func (m *memory) Count(what string, limit int) (n int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n = m.conversation.log.Memory().Counts[what]
	if n >= limit {
		return n, false
	}
	m.conversation.record(transcript.Counted{What: what})
	return n + 1, true
}

// NameHosts implements tools.Memory.
func (m *memory) NameHosts(hosts ...string) { m.conversation.nameHosts(hosts) }
