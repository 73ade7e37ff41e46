package kinds_test

import (
	"testing"

	"acp-agent/kinds"
)

func TestKind_Valid(t *testing.T) {
	for _, k := range kinds.All() {
		if !k.Valid() {
			t.Errorf("%q is not valid", k)
		}
	}
	if kinds.Kind("surprise").Valid() {
		t.Error("an unknown kind is valid")
	}
}

// What is not known of a tool still gives a card: of one that no longer exists, too.
func TestNeutral(t *testing.T) {
	for id, want := range map[string]string{
		"mcp__git_hub__search_code": "git_hub · search code",
		"tb__count_lines":           "count lines",
		"gone_tool":                 "gone tool",
		"\r\x1b[31m":                `\u{1b}[31m`,
		"_\n_":                      "Unknown tool",
		"":                          "Unknown tool",
	} {
		if got := kinds.Neutral(id); got.Kind != kinds.Other || got.Title != want {
			t.Errorf("%q: card %+v, want the title %q", id, got, want)
		}
	}
}

func TestLocked(t *testing.T) {
	if got := kinds.Locked(); len(got) != 13 || got[0] != "read" || got[12] != "tool_search" {
		t.Errorf("locked ids: %v", got)
	}
}
