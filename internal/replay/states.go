package replay

import (
	"maps"
	"slices"

	"acp-agent/internal/record"
)

// states are the values of a state of a session, such as its options. Two changes may come in one frame or
// in two, or in a response, so only the last value has to come.
type states struct {
	recorded []*frame
	last     *frame // the last one that the agent sent
}

func stateKey(session string, f *frame) string { return session + " " + f.of }

// addState adds a recorded state.
func (f *frames) addState(recorded *frame) {
	key := stateKey(recorded.session, recorded)
	if f.states[key] == nil {
		f.states[key] = &states{}
	}
	s := f.states[key]
	s.recorded = append(s.recorded, recorded)
}

// stateSent compares a state that the agent sent.
func (f *frames) stateSent(session string, live *frame) {
	s := f.states[stateKey(session, live)]
	if s == nil {
		s = &states{}
		f.states[stateKey(session, live)] = s
	}
	s.last = live
	for _, want := range s.recorded {
		if !want.done && f.compare.equal(want.value, live.value) == nil {
			want.done = true
			if !want.inResponse {
				f.matched++
			}
			f.player.NoteProgress()
			return
		}
	}
}

// stateDifference returns a difference between the last value of a state and the recorded one; nil when
// no state differs.
func (f *frames) stateDifference() *record.Difference {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.states {
		if len(s.recorded) == 0 {
			continue
		}
		want := s.recorded[len(s.recorded)-1]
		if want.done {
			continue
		}
		d := &record.Difference{Entry: want.entry, What: "the agent does not send this", Want: show(want.value), Got: "nothing"}
		if s.last != nil {
			m := f.compare.equal(want.value, s.last.value)
			if m == nil {
				continue // it matched an earlier recorded value, which the agent did not send this time
			}
			d.What, d.Path, d.Want, d.Got = "the agent sends something else", m.path, m.want, m.got
		}
		return d
	}
	return nil
}

// splitStates returns the states that a response contains as frames of their own, and the response without
// them: what may be chosen and how commands are confined, which the agent finds out while it opens a
// session.
func splitStates(f *frame) (states []*frame, rest any) {
	response, _ := f.value.(map[string]any)
	result, _ := response["result"].(map[string]any)
	if f.kind != "response" || result == nil {
		return nil, f.value
	}
	session := f.session
	if opened, ok := result["sessionId"].(string); ok {
		session = opened
	}
	add := func(kind string, update map[string]any) {
		update["sessionUpdate"] = kind
		states = append(states, &frame{
			entry: f.entry, session: session, class: class{"state", kind}, inResponse: true,
			value: map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{"sessionId": session, "update": update}},
		})
	}
	result = maps.Clone(result)
	if options, ok := result["configOptions"].([]any); ok {
		add("config_option_update", map[string]any{"configOptions": options})
		result["configOptions"] = withoutChoices(options)
	}
	if modes, ok := result["modes"].(map[string]any); ok {
		result["modes"] = without(modes, "availableModes") // they are among the options, too
	}
	if meta, ok := result["_meta"].(map[string]any); ok {
		if own, ok := meta["acp-agent"].(map[string]any); ok && own["sandbox"] != nil {
			add("session_info_update", map[string]any{"_meta": map[string]any{"acp-agent": map[string]any{"sandbox": own["sandbox"]}}})
			result["_meta"] = map[string]any{"acp-agent": without(own, "sandbox")}
		}
	}
	response = maps.Clone(response)
	response["result"] = result
	return states, response
}

// withoutChoices returns options with their current values alone.
func withoutChoices(options []any) []any {
	options = slices.Clone(options)
	for i := range options {
		options[i] = without(options[i], "options")
	}
	return options
}
