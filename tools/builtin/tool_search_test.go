package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// toolIndex is a [tools.ToolIndex] with fixed matches.
type toolIndex struct {
	matches []tools.ToolMatch
	query   string
	limit   int
}

func (i *toolIndex) Search(query string, limit int) []tools.ToolMatch {
	i.query, i.limit = query, limit
	return i.matches
}

func TestToolSearch(t *testing.T) {
	t.Parallel()
	found := []tools.ToolMatch{{ID: "mcp__a__b", Description: "Does b.", Parameters: json.RawMessage(`{"type":"object"}`)}, {ID: "tb__c", Description: "Does c. For models.", Parameters: json.RawMessage(`{` + strings.Repeat(" ", schemaBytes) + `}`)}}
	tests := []struct {
		name       string
		index      tools.ToolIndex
		data, text string
	}{
		{
			"found", &toolIndex{matches: found},
			`{"matches":[{"id":"mcp__a__b","description":"Does b."},{"id":"tb__c","description":"Does c. For models."}]}`,
			"Callable by name from your next answer on:\nmcp__a__b: Does b.\nArguments of mcp__a__b, as a JSON Schema: {\"type\":\"object\"}\ntb__c: Does c. For models.",
		},
		{"not found", &toolIndex{}, `{"matches":[]}`, `None of the hidden tools matches "do b". Other words may find one.`},
		{"nothing is hidden", nil, `{"matches":[]}`, "No tools are hidden: all that there are are listed already."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{})
			rt.Serve.Index = tt.index
			result, err := rt.Run(t.Context(), newToolSearch(0), "tool_search", `{"query":" do b "}`)
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := json.Marshal(result.Data)
			if diff := cmp.Diff(tt.data, string(raw)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, result.ModelText()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			shown := map[string]string{"found": "mcp__a__b: Does b\ntb__c: Does c\n"}[tt.name]
			said := map[string]string{"not found": "No tool was found.", "nothing is hidden": "There are no further tools."}[tt.name]
			wantCard(t, result, shown, said)
			if index, ok := tt.index.(*toolIndex); ok && (index.query != "do b" || index.limit != 10) {
				t.Errorf("searched %q, limit %d", index.query, index.limit)
			}
		})
	}
	wantFailure(t, tooltest.New(tooltest.Options{}), newToolSearch(0), `{"query":" "}`, tools.BadInput, "query")
}

// tools.search.max_matches reaches the search.
func TestToolSearch_MaxMatches(t *testing.T) {
	t.Parallel()
	index := &toolIndex{}
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Index = index
	for _, tool := range (Options{MaxMatches: 3}).All() {
		if tool.ID != "tool_search" {
			continue
		}
		if _, err := rt.Run(t.Context(), tool, tool.ID, `{"query":"x"}`); err != nil {
			t.Fatal(err)
		}
	}
	if index.limit != 3 {
		t.Errorf("searched for %d tools, want 3", index.limit)
	}
}
