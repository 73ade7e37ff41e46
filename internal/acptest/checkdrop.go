package acptest

import "slices"

// What some editors lose: that which comes while no prompt is open.

// dropping are the editors, by their names in clientInfo, that do.
var dropping = []string{"CodeCompanion.nvim", "agent-shell"}

// dropped are the kinds of updates that they drop then.
var dropped = []string{"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"}

// drops judges what came outside a turn in such an editor: an update or a question that the
// user never sees.
func (c *checker) drops(s *sessionState, m *Message) {
	if !slices.Contains(dropping, c.client) || s.turns > 0 {
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

// anew reports whether an update makes a new card, for the card of the call is one of an earlier
// turn.
func (c *checker) anew(s *sessionState, call *callState) bool {
	return slices.Contains(dropping, c.client) && call.heard != s.ended
}
