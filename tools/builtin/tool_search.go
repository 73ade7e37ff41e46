package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed tool_search.md
var toolSearchPrompt string

// defaultMatches bounds what one search finds (R87), where the configuration does not.
const defaultMatches = 10

// foundRunes bounds what the card says of a tool, the first sentence about it.
const foundRunes = 200

type toolSearchArgs struct {
	Query string `json:"query"`
}

// toolSearchData is the tools that were found.
type toolSearchData struct {
	Matches []tools.ToolMatch `json:"matches"`
}

// schemaBytes bounds the schemas in what the model reads of a search, together. A tool
// whose schema is left out can be called all the same: arguments that do not fit are
// answered with it.
const schemaBytes = 16 << 10

// newToolSearch is the tool that finds tools which are not listed (R87), at most
// as many at once as it is told, 0 being 10.
func newToolSearch(most int) tools.Tool {
	if most <= 0 {
		most = defaultMatches
	}
	return tools.Define(tools.Spec{
		ID:          "tool_search",
		Inward:      true,
		Description: prompt(toolSearchPrompt),
		Kind:        kinds.Search,
		Label:       "Find tools",
		Describe:    argumentTitle("Find tools for", "query"),
		Default:     capability.AllowAlways,
		Parameters:  object(text("query", "Keywords.")),
		Accepts:     &tools.Accepts{Fields: all(drop("the search is bounded by the agent"), "max_results", "limit", "top_k")},
		Profile:     &tools.Profile{},
		ReadOnly:    true,
	}, func(ctx context.Context, rt tools.Runtime, a toolSearchArgs) (*tools.Result, error) {
		return toolSearch(ctx, rt, most, a)
	})
}

func toolSearch(ctx context.Context, rt tools.Runtime, most int, a toolSearchArgs) (*tools.Result, error) {
	query := strings.TrimSpace(a.Query)
	if query == "" {
		return nil, tools.Errorf(tools.BadInput, "tool_search: query must not be empty")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	index := rt.Services().Index
	if index == nil {
		return &tools.Result{
			Data: toolSearchData{[]tools.ToolMatch{}}, Text: "No tools are hidden: all that there are are listed already.",
			Content: sentenceCard("There are no further tools."),
		}, nil
	}
	matches := index.Search(query, most)
	if len(matches) == 0 {
		return &tools.Result{
			Data: toolSearchData{[]tools.ToolMatch{}}, Text: fmt.Sprintf("None of the hidden tools matches %q. Other words may find one.", query),
			Content: sentenceCard("No tool was found."),
		}, nil
	}
	var model, card strings.Builder
	model.WriteString("Callable by name from your next answer on:\n")
	schemas := 0
	for _, match := range matches {
		fmt.Fprintf(&model, "%s: %s\n", match.ID, match.Description)
		if schemas += len(match.Parameters); schemas <= schemaBytes {
			fmt.Fprintf(&model, "Arguments of %s, as a JSON Schema: %s\n", match.ID, match.Parameters)
		}
		about, _, _ := strings.Cut(match.Description, ". ")
		fmt.Fprintf(&card, "%s\n", kinds.Line(match.ID+": "+strings.TrimSuffix(about, "."), foundRunes))
	}
	return &tools.Result{
		Data: toolSearchData{matches}, Text: strings.TrimSuffix(model.String(), "\n"), Content: textCard(card.String()),
	}, nil
}
