package transcript

import (
	"maps"
	"slices"
)

// Memory is the memory of a session's tools, folded from the stream like the messages: the plan (R61),
// counts (R80), the tools that a search made callable (R87), and the hosts that a user or a search named.
type Memory struct {
	Plan   []PlanEntry    `json:"plan,omitempty"`
	Counts map[string]int `json:"counts,omitempty"`
	Tools  []string       `json:"tools,omitempty"`
	Hosts  []string       `json:"hosts,omitempty"`
}

// Apply folds one event. Other events change nothing. Earlier clones do not change.
func (m *Memory) Apply(e Event) {
	switch e := e.(type) {
	case PlanChanged:
		m.Plan = slices.Clone(e.Entries)
	case Counted:
		if m.Counts == nil {
			m.Counts = map[string]int{}
		}
		m.Counts[e.What]++
	case ToolsActivated:
		m.Tools = addMissing(m.Tools, e.IDs)
	case HostsNamed:
		m.Hosts = addMissing(m.Hosts, e.Hosts)
	}
}

// Clone returns a copy that later events do not change.
func (m *Memory) Clone() Memory {
	return Memory{
		Plan: slices.Clone(m.Plan), Counts: maps.Clone(m.Counts), Tools: slices.Clone(m.Tools), Hosts: slices.Clone(m.Hosts),
	}
}

func addMissing(have, more []string) []string {
	for _, s := range more {
		if !slices.Contains(have, s) {
			have = append(have, s)
		}
	}
	return have
}
