package main

import (
	"cmp"
	"time"

	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/transcript"
)

// delegation is how subagents are bounded, and what the models that they run on cost.
type delegation struct {
	depth, running int
	// budget bounds each tree of subagents.
	budget subagent.Limits
	prices map[string]price
}

// price is what a million tokens of a model cost.
type price struct {
	input, output float64
	// cacheRead and cacheWrite are those of tokens in the server's cache; 0 means that of
	// input.
	cacheRead, cacheWrite float64
}

// defaultDelegation is what counts where nothing is configured.
func defaultDelegation() delegation {
	return delegation{depth: 5, running: 8, budget: subagent.Limits{Calls: 1000, Time: time.Hour, FanOut: 50}}
}

func (d delegation) settings() session.Subagents {
	s := session.Subagents{Depth: d.depth, Running: d.running, Budget: d.budget}
	if len(d.prices) > 0 {
		s.Price = d.cost
	}
	return s
}

// cost is what a model call cost; 0 when the model has no price.
func (d delegation) cost(model string, u transcript.Usage) float64 {
	const million = 1e6
	p := d.prices[model]
	in := float64(u.Input)*p.input + float64(u.CacheRead)*cmp.Or(p.cacheRead, p.input) + float64(u.CacheWrite)*cmp.Or(p.cacheWrite, p.input)
	return (in + float64(u.Output+u.Reasoning)*p.output) / million
}
