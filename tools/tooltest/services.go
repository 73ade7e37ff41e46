package tooltest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"acp-agent/tools"
	"acp-agent/transcript"
)

// Memory is a [tools.Memory] for one test. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	state transcript.Memory
}

// Plan implements [tools.Memory].
func (m *Memory) Plan() []transcript.PlanEntry { return m.State().Plan }

// SetPlan implements [tools.Memory].
func (m *Memory) SetPlan(entries []transcript.PlanEntry) {
	m.apply(transcript.PlanChanged{Entries: slices.Clone(entries)})
}

// Count implements [tools.Memory].
func (m *Memory) Count(what string, limit int) (int, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.state.Counts[what]; n >= limit {
		return n, false
	}
	m.state.Apply(transcript.Counted{What: what})
	return m.state.Counts[what], true
}

// NameHosts implements [tools.Memory].
func (m *Memory) NameHosts(hosts ...string) { m.apply(transcript.HostsNamed{Hosts: hosts}) }

// State is what was remembered.
func (m *Memory) State() transcript.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Clone()
}

func (m *Memory) apply(e transcript.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.Apply(e)
}

// NetFunc is a [tools.Net] made of a function.
type NetFunc func(ctx context.Context, r tools.Request) (*tools.Response, error)

// Do implements [tools.Net].
func (f NetFunc) Do(ctx context.Context, r tools.Request) (*tools.Response, error) { return f(ctx, r) }

func noNet(context.Context, tools.Request) (*tools.Response, error) {
	return nil, errors.New("this test has no network")
}
