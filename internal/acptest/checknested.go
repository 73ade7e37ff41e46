package acptest

import "maps"

// parentOf is the call that a call is nested in, as clients read it (R70).
func parentOf(members map[string]any) string {
	id, _ := at(members, "_meta.claudeCode.parentToolUseId").(string)
	return id
}

// withoutParent is an update without its parent, which each repeats.
func withoutParent(members map[string]any) map[string]any {
	if parentOf(members) == "" {
		return members
	}
	members = maps.Clone(members)
	meta, _ := members["_meta"].(map[string]any)
	meta = maps.Clone(meta)
	if delete(meta, "claudeCode"); len(meta) == 0 {
		delete(members, "_meta")
	} else {
		members["_meta"] = meta
	}
	return members
}

// nested has each update of a call name the same parent: clients read it on any.
func (c *checker) nested(s *sessionState, id string, members map[string]any) {
	if parent := parentOf(members); parent != s.calls[id].parent {
		c.problem("the call %s is nested in %q, and an update of it says %q", id, s.calls[id].parent, parent)
	}
}

// leavesNothing is for a call that has ended: what its subagent did has ended before it,
// but for what that started in the background.
func (c *checker) leavesNothing(s *sessionState, id string) {
	for below, call := range s.calls {
		if call.parent == id && !call.final() && !call.background() {
			c.problem("the call %s has ended before the call %s below it, which is %s", id, below, call.status)
		}
	}
}

// background reports a call that was asked not to be waited for.
func (s *callState) background() bool { return at(s.fields["rawInput"], "background") == true }

// inBackground reports a call that goes on behind the end of its turn: one that is not
// waited for, and all below it.
func (s *sessionState) inBackground(id string) bool {
	for depth := 0; id != "" && depth < 100; depth++ {
		call := s.calls[id]
		if call == nil {
			return false
		}
		if call.background() {
			return true
		}
		id = call.parent
	}
	return false
}

// ofBackground reports an update that comes outside a turn because something runs in the
// background: of its calls, and the message about its end.
func (s *sessionState) ofBackground(kind string, members map[string]any) bool {
	switch kind {
	case "tool_call":
		return s.inBackground(parentOf(members))
	case "tool_call_update":
		id, _ := members["toolCallId"].(string)
		return s.inBackground(id)
	case "agent_message_chunk":
		for id, call := range s.calls {
			if call.final() && s.inBackground(id) {
				return true
			}
		}
	}
	return false
}
