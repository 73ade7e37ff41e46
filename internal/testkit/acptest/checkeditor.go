package acptest

import "slices"

// editorRules are what [Check] holds of an agent in an editor that it knows by its name. They
// are written from the editors' sources (docs/editors.md) and know nothing of acp/v1.
type editorRules struct {
	// names: the editor shows the names of options, so that two of one kind can be told apart.
	names bool
	// drops: the editor loses what comes while no prompt is open.
	drops bool
}

// editors are the rules by the name in clientInfo. An editor that is not listed has none.
var editors = map[string]editorRules{
	"zed":                {names: true},
	"CodeCompanion.nvim": {drops: true},
	"agent-shell":        {names: true, drops: true},
	"vscode-acp-client":  {names: true},
}

// rules are those of the client of the run.
func (c *checker) rules() editorRules { return editors[c.client] }

// dropped are the kinds of updates that an editor may drop between turns.
var dropped = []string{"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"}

// seen insists that the user sees a message: an editor may drop an update or a question that comes
// outside a turn.
func (c *checker) seen(s *sessionState, m *Message) {
	if !c.rules().drops || s.turns > 0 {
		return
	}
	kind, _ := m.Update()
	switch {
	case m.Method == methodUpdate && slices.Contains(dropped, kind):
		c.problem("%s between turns, which %s drops", kind, c.client)
	case m.Method == methodPermission || m.Method == methodElicitation+"create":
		c.problem("%s between turns, which %s drops", m.Method, c.client)
	}
}

// newCard reports whether the editor makes a new card of an update, because the call's card is one of
// an earlier turn.
func (c *checker) newCard(s *sessionState, call *callState) bool {
	return c.rules().drops && call.heard != s.ended
}
