package builtin

import (
	"context"
	_ "embed"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed oracle.md
var oraclePrompt string

type oracleArgs struct {
	Task    string   `json:"task"`
	Context string   `json:"context"`
	Files   []string `json:"files"`
}

// newOracle is the tool that has the subagent of its name think a hard question
// through (R99).
func newOracle() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "oracle",
		Inward:      true,
		Description: prompt(oraclePrompt),
		Kind:        kinds.Think,
		Label:       "Consult oracle",
		Describe:    argumentTitle("Consult oracle:", "task"),
		Default:     capability.AllowAlways,
		Parameters: object(
			text("task", "The question, and what the answer is for."),
			text("context?", "What is known and was tried already."),
			texts("files?", "Paths that it should read first."),
		),
		Profile:        &tools.Profile{},
		DisableTimeout: true,
		Delegates:      true,
		Lacks:          lacksAgent("oracle"),
	}, runOracle)
}

func runOracle(ctx context.Context, rt tools.Runtime, args oracleArgs) (*tools.Result, error) {
	return delegateTo(ctx, rt, "task", tools.Delegation{Agent: "oracle", Prompt: args.Task, Context: args.Context}, args.Files)
}
