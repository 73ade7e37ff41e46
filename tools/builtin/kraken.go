package builtin

import (
	"context"
	_ "embed"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed kraken.md
var krakenPrompt string

type krakenArgs struct {
	Prompt string   `json:"prompt"`
	Files  []string `json:"files"`
}

// newKraken is the tool that has the subagent of its name carry one change
// through many files (R99).
func newKraken() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "kraken",
		Inward:      true,
		Description: prompt(krakenPrompt),
		Kind:        kinds.Edit,
		Label:       "Refactor many files",
		Describe:    argumentTitle("Refactor:", "prompt"),
		Default:     capability.AllowAlways,
		Parameters: object(
			text("prompt", "The change, exactly: what becomes what, where, and what stays as it is."),
			texts("files?", "Paths that it concerns, as far as you know them."),
		),
		Profile:        &tools.Profile{},
		DisableTimeout: true,
		Delegates:      true,
		Lacks:          lacksAgent("kraken"),
	}, runKraken)
}

func runKraken(ctx context.Context, rt tools.Runtime, args krakenArgs) (*tools.Result, error) {
	return delegateTo(ctx, rt, "prompt", tools.Delegation{Agent: "kraken", Prompt: args.Prompt}, args.Files)
}
