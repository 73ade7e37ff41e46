package acptest

// What holds only for the calls of subagents and for the calls that spawn them.

// parentOf is the call that spawned the subagent whose call a message is about; empty for
// one of the main agent.
func parentOf(members map[string]any) string {
	parent, _ := at(members, "_meta.claudeCode.parentToolUseId").(string)
	return parent
}

// parentKept insists that every message of a call names the same parent, and one that was opened.
func (c *checker) parentKept(s *sessionState, id string, call *callState, members map[string]any) {
	parent := parentOf(members)
	switch {
	case parent != call.parent:
		c.problem("the call %s has the parent %q, then %q", id, call.parent, parent)
	case parent != "" && s.calls[parent] == nil:
		c.problem("the call %s has the parent %s, which was never opened", id, parent)
	}
}

// parentOpen insists that a call begins while the one that spawned its subagent is open. One that was
// made in the background may be complete before its subagent has ended.
func (c *checker) parentOpen(s *sessionState, id string) {
	if parent := s.calls[s.calls[id].parent]; parent != nil && parent.final() && !parent.background {
		c.problem("the call %s begins below the call %s, which is %s", id, s.calls[id].parent, parent.status)
	}
}

// childrenEnded insists that a call ends after the calls of its subagent, except for those in the
// background.
func (c *checker) childrenEnded(s *sessionState, id string) {
	for below, call := range s.calls {
		if call.parent == id && !call.final() && !call.background {
			c.problem("the call %s has ended before the call %s below it, which is %s", id, below, call.status)
		}
	}
}

// outlives reports whether a call may be open when the turn ends: it was made in the
// background, or is of a subagent whose call was.
func (s *sessionState) outlives(id string) bool {
	for call := s.calls[id]; call != nil; call = s.calls[call.parent] {
		if call.background {
			return true
		}
	}
	return false
}

// aboutBackground reports whether an update is about a subagent in the background, which
// may come when there is no turn.
func (c *checker) aboutBackground(s *sessionState, kind string, members map[string]any) bool {
	id, _ := members["toolCallId"].(string)
	switch kind {
	case "tool_call":
		return s.outlives(parentOf(members))
	case "tool_call_update":
		return s.outlives(id)
	case "agent_message_chunk", "agent_thought_chunk", "notice", "subagent_update":
		return s.spawns
	}
	return false
}
