package session

import (
	"strings"
	"testing"

	"acp-agent/subagent"
	"acp-agent/transcript"
)

// A dollar for each token of the model "dear"; other prices are not known.
func testPrice(model string, u transcript.Usage) float64 {
	if model != "dear" {
		return 0
	}
	return float64(u.Total())
}

func TestAccount_CountsStepsAndSubagents(t *testing.T) {
	a := &account{sessionID: "ses", price: testPrice, children: func() []subagent.Statement {
		child := func(parent string, cost float64) subagent.Statement {
			var st subagent.Statement
			st.Record.ID, st.Record.ParentID, st.Spent.Cost = parent+"x", parent, cost
			return st
		}
		// The cost of a subagent includes those below it, so only the first counts.
		return []subagent.Statement{child("ses", 5), child("sesx", 2)}
	}}
	a.note(transcript.StepStarted{Model: "dear"})
	a.note(transcript.StepFinished{Usage: &transcript.Usage{Input: 3, Output: 4}})
	a.add("dear", &transcript.Usage{Output: 1})
	a.add("dear", nil) // the server did not report it
	if got := a.cost(); got != 13 {
		t.Errorf("cost = %v, want 3+4+1 of the agents and 5 of the subagents", got)
	}
	if tokens, _ := a.now(); tokens.Total() != 8 {
		t.Errorf("tokens = %d, want 8", tokens.Total())
	}
	a.add("cheap", &transcript.Usage{Output: 1})
	if text := a.text(); !strings.Contains(text, "price of some model calls is not known") {
		t.Errorf("the unknown price is not reported:\n%s", text)
	}
}

func TestAccount_FillsAndClears(t *testing.T) {
	a := &account{price: testPrice}
	a.add("dear", &transcript.Usage{Output: 2})
	e, warning := a.fill(transcript.UsageChanged{Used: 85, Size: 100})
	if e.Cost != 2 || !strings.Contains(warning, "80 percent") {
		t.Errorf("cost %v, warning %q", e.Cost, warning)
	}
	if _, again := a.fill(transcript.UsageChanged{Used: 86, Size: 100}); again != "" {
		t.Errorf("warned again: %q", again)
	}
	if window := a.clear(); window != 100 {
		t.Errorf("window = %d", window)
	}
	if _, warning := a.fill(transcript.UsageChanged{Used: 85, Size: 100}); warning == "" {
		t.Error("a new conversation is not warned of")
	}
}
