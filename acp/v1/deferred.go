package v1

import (
	"cmp"
	"slices"

	"acp-agent/acp/schema"
)

// Some editors drop what arrives between turns, and cannot change a card of an earlier turn.
// In these no card of a background subagent stays open at the end of a turn: the call that
// started it completes with its answer, and a call of the subagent is shown when it has ended
// or when the user is asked about it. Updates between turns are deferred: they are sent with
// the next prompt, before anything of its turn.

// maxDeferred bounds the deferred updates; beyond it the earliest calls are left out. The
// updates of one call are merged, so a call that runs for long counts once.
const maxDeferred = 100

// deferredUpdates are the updates that wait for the next prompt.
type deferredUpdates []schema.SessionUpdate

// add defers an update. If there are too many, it removes all updates of the earliest call
// and returns that call's id.
func (d *deferredUpdates) add(update schema.SessionUpdate) (removed string) {
	*d = append(*d, d.merged(update))
	if len(*d) <= maxDeferred {
		return ""
	}
	at := slices.IndexFunc(*d, func(u schema.SessionUpdate) bool { _, opens := u.(schema.ToolCall); return opens })
	if at < 0 {
		return ""
	}
	call := (*d)[at].(schema.ToolCall).ToolCallID
	*d = slices.DeleteFunc(*d, func(u schema.SessionUpdate) bool { return callOf(u) == call })
	return string(call)
}

// merged removes an earlier update of the same call and returns the update with the fields
// of that one which it does not set itself.
func (d *deferredUpdates) merged(update schema.SessionUpdate) schema.SessionUpdate {
	later, ok := update.(schema.SessionToolCallUpdate)
	if !ok {
		return update
	}
	at := slices.IndexFunc(*d, func(u schema.SessionUpdate) bool {
		earlier, ok := u.(schema.SessionToolCallUpdate)
		return ok && earlier.ToolCallID == later.ToolCallID
	})
	if at < 0 {
		return update
	}
	earlier := (*d)[at].(schema.SessionToolCallUpdate)
	*d = slices.Delete(*d, at, at+1)
	merged := earlier.ToolCallUpdate
	merged.Kind, merged.Status = cmp.Or(later.Kind, earlier.Kind), cmp.Or(later.Status, earlier.Status)
	merged.Title, merged.Name = cmp.Or(later.Title, earlier.Title), cmp.Or(later.Name, earlier.Name)
	merged.Content, merged.Locations = orEarlier(later.Content, earlier.Content), orEarlier(later.Locations, earlier.Locations)
	merged.RawInput, merged.RawOutput = orEarlier(later.RawInput, earlier.RawInput), orEarlier(later.RawOutput, earlier.RawOutput)
	if later.Meta != nil { // it differs between updates only for terminals of ours, and a deferred call has none
		merged.Meta = later.Meta
	}
	return schema.SessionToolCallUpdate{ToolCallUpdate: merged}
}

// orEarlier is the list of the later update, or that of the earlier one if the later has none.
func orEarlier[S ~[]E, E any](later, earlier S) S {
	if later == nil {
		return earlier
	}
	return later
}

// callOf is the id of the call that an update is about, or "".
func callOf(update schema.SessionUpdate) schema.ToolCallId {
	switch update := update.(type) {
	case schema.ToolCall:
		return update.ToolCallID
	case schema.SessionToolCallUpdate:
		return update.ToolCallID
	}
	return ""
}

// clientDrops reports whether the client would drop an update that is sent now.
func (o *outbox) clientDrops(update schema.SessionUpdate) bool {
	if !o.client.dropsBetweenTurns || o.quiet.prompts.Load() > 0 {
		return false
	}
	switch update.(type) {
	case schema.AgentMessageChunk, schema.AgentThoughtChunk, schema.ToolCall, schema.SessionToolCallUpdate:
		return true
	}
	return false
}

// sendDeferred sends the deferred updates.
func (o *outbox) sendDeferred() {
	deferred := o.deferred
	o.deferred = nil
	for _, update := range deferred {
		o.sendTo(o.session, update)
	}
}

// inEarlierTurn reports whether the card of a call belongs to an earlier turn. An update of it
// then starts a new card in the editor, which needs a title.
func (c *cards) inEarlierTurn(view *callView) bool {
	return c.out.client.dropsBetweenTurns && view.turn != c.turns
}

// mustHold reports whether a call is shown only when it has ended.
func (c *cards) mustHold(view *callView) bool {
	return c.out.client.dropsBetweenTurns && c.inBackground(view)
}

// showHeld opens the card of a held call, after those of the calls above it.
func (c *cards) showHeld(id string, view *callView) {
	if view.stage != held {
		return
	}
	if above := c.calls[view.parent]; above != nil {
		c.showHeld(view.parent, above)
	}
	view.stage = unsent
	c.open(id, view, change{locations: view.locations, input: view.input})
}

// updateHeld applies a change to a held call.
func (v *callView) updateHeld(c change) {
	v.label, v.kind = cmp.Or(c.title, v.label), cmp.Or(c.kind, v.kind)
	if c.locations != nil {
		v.locations = c.locations
	}
	if c.input != nil {
		v.input = c.input
	}
}
