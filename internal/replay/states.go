package replay

import "acp-agent/internal/record"

// states are the values of a state of a session, such as its options: two changes may be told in
// one frame or in two, so that only the last value has to come.
type states struct {
	recorded []*frame
	last     *frame // that the agent sent
}

func stateKey(session string, f *frame) string { return session + " " + f.of }

// state notes a recorded state.
func (f *frames) state(recorded *frame) {
	key := stateKey(recorded.session, recorded)
	if f.states[key] == nil {
		f.states[key] = &states{}
	}
	s := f.states[key]
	s.recorded = append(s.recorded, recorded)
}

// stateSent notes a state that the agent sent.
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
			f.matched++
			f.player.Moved()
			return
		}
	}
}

// unequal returns how the last value of a state differs from the recorded one; nil when none does.
func (f *frames) unequal() *record.Difference {
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
			if m := f.compare.equal(want.value, s.last.value); m != nil {
				d.What, d.Path, d.Want, d.Got = "the agent sends something else", m.path, m.want, m.got
			}
		}
		return d
	}
	return nil
}
