package app

import (
	"acp-agent/config"
	"acp-agent/session"
	"acp-agent/subagent"
)

// subagents is what the user set for subagents.
func subagents(cfg *config.Config) session.Subagents {
	from := cfg.Subagents
	s := session.Subagents{
		Depth: from.Depth, Running: from.Running, Slots: agentSlots(cfg.Agents),
		Budget: subagent.Limits{
			Tokens: from.Budget.Tokens, Calls: from.Budget.Calls, Time: from.Budget.Time.Duration,
			Cost: from.Budget.Cost, FanOut: from.Budget.FanOut,
		},
	}
	return s
}
