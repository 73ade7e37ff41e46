package main

import (
	"time"

	"acp-agent/subagent"
)

type stubAgents map[string]subagent.Manifest

func (a stubAgents) Get(name string) (subagent.Manifest, bool) { m, ok := a[name]; return m, ok }
func (a stubAgents) Names() []string                           { return []string{"explore", "general"} }

func stub() stubAgents {
	t := 0.2
	return stubAgents{
		"general":   {Name: "general", Mode: subagent.Subagent, Prompt: "You are a general subagent.", Tools: []string{"read", "write", "edit", "glob", "grep", "bash", "task"}, Limits: subagent.Limits{Cycles: 10, Temperature: &t, MaxTokens: 4000}},
		"finder":    {Name: "finder", Mode: subagent.Subagent, Prompt: "You are the finder.", Tools: []string{"read", "glob", "grep"}},
		"oracle":    {Name: "oracle", Mode: subagent.Subagent, Prompt: "You are the oracle.", Tools: []string{"read", "glob", "grep"}},
		"librarian": {Name: "librarian", Mode: subagent.Subagent, Prompt: "You are the librarian.", Tools: []string{"read", "repo_overview"}},
		"kraken":    {Name: "kraken", Mode: subagent.Subagent, Prompt: "You are the kraken.", Tools: []string{"read", "edit", "glob", "grep", "task"}},
		"explore":   {Name: "explore", Mode: subagent.Subagent, Prompt: "You are an explore subagent.", Tools: []string{"read", "glob", "grep", "task"}, Limits: subagent.Limits{Time: time.Hour}},
	}
}
