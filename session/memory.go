package session

import (
	"slices"
	"sync"

	"acp-agent/subagent"
	"acp-agent/tools"
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

// childMemory is the memory of a subagent's tools: a plan and hosts of its own, and the counts of the
// session, because their limits hold for the session as a whole (R80).
type childMemory struct {
	memory tools.Memory // the session's
	node   *subagent.Node
}

// Plan implements tools.Memory.
func (m *childMemory) Plan() []transcript.PlanEntry { return m.node.Log().Memory().Plan }

// SetPlan implements tools.Memory.
func (m *childMemory) SetPlan(entries []transcript.PlanEntry) {
	m.node.Emit(transcript.PlanChanged{Entries: slices.Clone(entries)})
}

// Count implements tools.Memory.
func (m *childMemory) Count(what string, limit int) (n int, ok bool) {
	return m.memory.Count(what, limit)
}

// NameHosts implements tools.Memory.
func (m *childMemory) NameHosts(hosts ...string) {
	if fresh := unknownHosts(hosts, m.node.Log().Memory().Hosts); len(fresh) > 0 {
		m.node.Emit(transcript.HostsNamed{Hosts: fresh})
	}
}
