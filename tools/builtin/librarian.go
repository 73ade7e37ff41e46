package builtin

import (
	"context"
	_ "embed"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed librarian.md
var librarianPrompt string

type librarianArgs struct {
	Query   string `json:"query"`
	Context string `json:"context"`
}

// newLibrarian is the tool that has the subagent of its name search other
// repositories and their documentation (R99).
func newLibrarian() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "librarian",
		Inward:      true,
		Description: prompt(librarianPrompt),
		Kind:        kinds.Search,
		Label:       "Search repositories",
		Describe:    argumentTitle("Search repositories for", "query"),
		Default:     capability.AllowAlways,
		Parameters: object(
			text("query", "The question; name libraries and versions."),
			text("context?", "What it is for, and what is known already."),
		),
		Profile:        &tools.Profile{},
		DisableTimeout: true,
		Delegates:      true,
		Lacks:          lacksAgent("librarian"),
	}, runLibrarian)
}

func runLibrarian(ctx context.Context, rt tools.Runtime, args librarianArgs) (*tools.Result, error) {
	return delegateTo(ctx, rt, "query", tools.Delegation{Agent: "librarian", Prompt: args.Query, Context: args.Context}, nil)
}
