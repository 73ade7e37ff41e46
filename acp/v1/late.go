package v1

import (
	"cmp"
	"slices"

	"acp-agent/acp/schema"
)

// An editor that drops what comes between turns also cannot change, in a later turn, a card of
// an earlier one. So in such an editor nothing of a subagent in the background is left open at
// the end of a turn: the call that started it is complete with its answer, and a call of it is
// shown when it has ended, or when the user is asked about it. What comes between turns waits
// for the next prompt and is sent before anything of its turn.

// maxLate bounds the updates that wait for a prompt; of more the earliest calls are left out.
// The updates of one call are joined, so that one that goes on for long does not add up.
const maxLate = 100

// lost reports whether an editor would lose an update that is sent now.
func (t *translator) lost(update schema.SessionUpdate) bool {
	if !t.client.dropsBetweenTurns || t.quiet.prompts.Load() > 0 {
		return false
	}
	switch update.(type) {
	case schema.AgentMessageChunk, schema.AgentThoughtChunk, schema.ToolCall, schema.SessionToolCallUpdate:
		return true
	}
	return false
}

// keepLate keeps an update for the next prompt.
func (t *translator) keepLate(update schema.SessionUpdate) {
	t.late = append(t.late, t.joined(update))
	if len(t.late) <= maxLate {
		return
	}
	at := slices.IndexFunc(t.late, func(u schema.SessionUpdate) bool { _, opens := u.(schema.ToolCall); return opens })
	if at < 0 {
		return
	}
	call := t.late[at].(schema.ToolCall).ToolCallID
	t.late = slices.DeleteFunc(t.late, func(u schema.SessionUpdate) bool { return callOf(u) == call })
	if view := t.calls[string(call)]; view != nil {
		view.stage = held
	}
}

// joined is an update of a call with what an earlier one that waits says of the same call,
// which it takes the place of.
func (t *translator) joined(update schema.SessionUpdate) schema.SessionUpdate {
	later, ok := update.(schema.SessionToolCallUpdate)
	if !ok {
		return update
	}
	at := slices.IndexFunc(t.late, func(u schema.SessionUpdate) bool {
		earlier, ok := u.(schema.SessionToolCallUpdate)
		return ok && earlier.ToolCallID == later.ToolCallID
	})
	if at < 0 {
		return update
	}
	earlier := t.late[at].(schema.SessionToolCallUpdate)
	t.late = slices.Delete(t.late, at, at+1)
	joined := earlier.ToolCallUpdate
	joined.Kind, joined.Status = cmp.Or(later.Kind, earlier.Kind), cmp.Or(later.Status, earlier.Status)
	joined.Title, joined.Name = cmp.Or(later.Title, earlier.Title), cmp.Or(later.Name, earlier.Name)
	joined.Content, joined.Locations = orEarlier(later.Content, earlier.Content), orEarlier(later.Locations, earlier.Locations)
	joined.RawInput, joined.RawOutput = orEarlier(later.RawInput, earlier.RawInput), orEarlier(later.RawOutput, earlier.RawOutput)
	if later.Meta != nil { // it is the same in each but for terminals of ours, which no such call has
		joined.Meta = later.Meta
	}
	return schema.SessionToolCallUpdate{ToolCallUpdate: joined}
}

// orEarlier is what a later update says, or if it says nothing, what the earlier one did.
func orEarlier[S ~[]E, E any](later, earlier S) S {
	if later == nil {
		return earlier
	}
	return later
}

// callOf is the call that an update is about; empty when it is about none.
func callOf(update schema.SessionUpdate) schema.ToolCallId {
	switch update := update.(type) {
	case schema.ToolCall:
		return update.ToolCallID
	case schema.SessionToolCallUpdate:
		return update.ToolCallID
	}
	return ""
}

// sendLate sends what has waited for a prompt.
func (t *translator) sendLate() {
	late := t.late
	t.late = nil
	for _, update := range late {
		t.sendTo(t.session, update)
	}
}

// isPast reports whether the card of a call belongs to an earlier turn, so that an update of it
// begins a new card, which needs a title.
func (t *translator) isPast(view *callView) bool {
	return t.client.dropsBetweenTurns && view.turn != t.turns
}

// holds reports whether a call that begins is shown only when it has ended.
func (t *translator) holds(view *callView) bool {
	return t.client.dropsBetweenTurns && t.inBackground(view)
}

// unhold shows a call that was held, and those above it.
func (t *translator) unhold(id string, view *callView) {
	if view.stage != held {
		return
	}
	if above := t.calls[view.parent]; above != nil {
		t.unhold(view.parent, above)
	}
	view.stage = unsent
	t.open(id, view, change{locations: view.locations, input: view.input})
}

// reveal shows a call that is held, for the user is asked about it.
func (t *translator) reveal(call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if view := t.calls[call]; view != nil {
		t.unhold(call, view)
	}
}

// hold takes what is said of a call that is held.
func (v *callView) hold(c change) {
	v.label, v.kind = cmp.Or(c.title, v.label), cmp.Or(c.kind, v.kind)
	if c.locations != nil {
		v.locations = c.locations
	}
	if c.input != nil {
		v.input = c.input
	}
}
