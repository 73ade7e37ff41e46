package replay

import (
	"maps"
	"slices"

	"acp-agent/internal/record"
)

// stateValues are the values of one state of a session, such as its options. Two changes may come in one frame,
// in two or in a response, so only the last value has to come.
type stateValues struct {
	recorded []*frame
	last     *frame // the last one that the agent sent
}

// valuesOf returns the values of the state that a frame has.
func (m *matcher) valuesOf(session string, f *frame) *stateValues {
	key := session + " " + f.about
	if m.states[key] == nil {
		m.states[key] = &stateValues{}
	}
	return m.states[key]
}

// addState adds a recorded state.
func (m *matcher) addState(recorded *frame) {
	s := m.valuesOf(recorded.session, recorded)
	s.recorded = append(s.recorded, recorded)
}

// matchState matches a state that the agent sent.
func (m *matcher) matchState(session string, live *frame) {
	s := m.valuesOf(session, live)
	s.last = live
	for _, want := range s.recorded {
		if !want.done && m.compare.equal(want.value, live.value) == nil {
			want.done = true
			if !want.inResponse {
				m.matched++
			}
			m.player.NoteProgress()
			return
		}
	}
}

// stateDifference returns a difference between the last value of a state and the recorded one; nil when
// no state differs. Of a recording that was cut, the last recorded value need not be the one that came last.
func (m *matcher) stateDifference() *record.Difference {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cut {
		return nil
	}
	for _, s := range m.states {
		if len(s.recorded) == 0 {
			continue
		}
		want := s.recorded[len(s.recorded)-1]
		if want.done {
			continue
		}
		d := &record.Difference{Entry: want.entry, What: "the agent does not send this", Want: show(want.value), Got: "nothing"}
		if s.last != nil {
			difference := m.compare.equal(want.value, s.last.value)
			if difference == nil {
				continue // it matched an earlier recorded value, which the agent did not send this time
			}
			d.What, d.Path, d.Want, d.Got = "the agent sends something else", difference.path, difference.want, difference.got
		}
		return d
	}
	return nil
}

// splitStates returns the states that a response contains as frames of their own, and the response without
// them: what may be chosen and how commands are confined, which the agent finds out while it opens a session.
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
