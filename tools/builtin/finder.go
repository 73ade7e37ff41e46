package builtin

import (
	"context"
	_ "embed"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed finder.md
var finderPrompt string

type finderArgs struct {
	Query string `json:"query"`
}

// newFinder is the tool that has the subagent of its name find code by what it
// does (R99).
func newFinder() tools.Tool {
	return tools.Define(tools.Spec{
		ID:             "finder",
		Inward:         true,
		Description:    prompt(finderPrompt),
		Kind:           kinds.Search,
		Label:          "Find code",
		Describe:       argumentTitle("Find", "query"),
		Default:        capability.AllowAlways,
		Parameters:     object(text("query", "What to find, and what tells it apart.")),
		Profile:        &tools.Profile{},
		DisableTimeout: true,
		Delegates:      true,
		Lacks:          lacksAgent("finder"),
	}, runFinder)
}

func runFinder(ctx context.Context, rt tools.Runtime, args finderArgs) (*tools.Result, error) {
	return delegateTo(ctx, rt, "query", tools.Delegation{Agent: "finder", Prompt: args.Query}, nil)
}
