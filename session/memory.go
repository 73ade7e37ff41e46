package session

import (
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/network"
	"acp-agent/transcript"
)

// memory is what the session's tools remember: the part of the transcript that
// is not messages (tools.Memory).
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

// unknownHosts are the hosts that are not among those known. A host is a name and
// nothing more: what reads like a pattern would stand for others too.
func unknownHosts(hosts, known []string) []string {
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		target, err := network.Parse("https://" + hostInURL(host))
		return err != nil || target.Host != host || strings.ContainsAny(host, "*?[]{}") || slices.Contains(known, host)
	})
}

// hostInURL is a host as it stands in an address.
func hostInURL(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
