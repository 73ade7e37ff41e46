package main

import (
	"cmp"

	"acp-agent/config"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/transcript"
)

// subagents is what the person set for subagents.
func subagents(cfg *config.Config) session.Subagents {
	from := cfg.Subagents
	s := session.Subagents{
		Depth: from.Depth, Running: from.Running, Slots: agentSlots(cfg.Agents),
		Budget: subagent.Limits{
			Tokens: from.Budget.Tokens, Calls: from.Budget.Calls, Time: from.Budget.Time.Duration,
			Cost: from.Budget.Cost, FanOut: from.Budget.FanOut,
		},
	}
	if prices := cfg.Model.Prices; len(prices) > 0 {
		s.Price = func(model string, u transcript.Usage) float64 { return cost(prices[model], u) }
	}
	return s
}

// cost is what a model call cost. Prices are for a million tokens; a price of cached input
// that is 0 is that of input.
func cost(p config.Price, u transcript.Usage) float64 {
	const million = 1e6
	in := float64(u.Input)*p.Input + float64(u.CacheRead)*cmp.Or(p.CacheRead, p.Input) + float64(u.CacheWrite)*cmp.Or(p.CacheWrite, p.Input)
	return (in + float64(u.Output+u.Reasoning)*p.Output) / million
}
