package replay

import (
	"maps"
	"sync"

	"acp-agent/internal/record"
)

// matcher matches the lines that the agent sends with the recorded ones. In a session their order has to be the
// same, except for frames that commute. Texts that arrive in pieces are matched as one text (text.go), and of a
// state only the last value counts (states.go). recorded.go reads the recorded frames, and input.go translates the
// client's lines.
type matcher struct {
	player *record.Player

	mu         sync.Mutex // guards what follows
	inHand     int        // the entry of the line that the agent handles; -1 when there is none
	compare    *comparison
	requests   map[string]request      // the client's, by id
	recorded   callers                 // of the recorded calls
	live       callers                 // of the calls of this process
	bySession  map[string][]*frame     // the recorded frames
	skip       map[int]bool            // entries that are not passed to the agent
	requestIDs map[string]string       // of the agent's requests: recorded to live
	states     map[string]*stateValues // by session and kind
	matched    int                     // frames that came as recorded
	cut        bool                    // the recording ends before the input does, so the last states may be missing
}

// count returns the number of frames that came as recorded.
func (m *matcher) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.matched
}

// recordedSession returns the recorded id of a session.
func (m *matcher) recordedSession(live string) string {
	if recorded, ok := m.compare.toRecorded[live]; ok {
		return recorded
	}
	return live
}

// sent matches a line that the agent sends.
func (m *matcher) sent(data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	live := parse(data, m.requests)
	m.live.resolve(live)
	session := m.recordedSession(live.session)
	switch {
	case live.method == "$/cancel_request":
	case live.kind == "text":
		m.matchText(session, live)
	case live.kind == "state":
		m.matchState(session, live)
	default:
		states, rest := splitStates(live)
		live.value = rest
		m.match(session, live)
		for _, state := range states { // after match, which learns the id of a new session
			m.matchState(m.recordedSession(state.session), state)
		}
	}
}

// match finds the recorded frame that is equal to live.
func (m *matcher) match(session string, live *frame) {
	var passed []*frame // recorded frames that may come after live
	var first *frame    // the first one that has to come
	for _, want := range m.bySession[session] {
		if want.done {
			continue
		}
		if m.difference(want, live) == nil {
			m.accept(want, live)
			return
		}
		if first == nil && !want.progress {
			first = want
		}
		if !want.progress && !commute(want, live) {
			break
		}
		passed = append(passed, want)
	}
	if live.progress {
		return
	}
	for _, want := range passed {
		if want.class == live.class && !want.progress {
			first = want // says more about live than a frame of another class
			break
		}
	}
	if first == nil {
		m.unexpected(live)
		return
	}
	m.differ(first, live)
}

// difference compares a recorded frame with one that the agent sends.
func (m *matcher) difference(want, live *frame) *mismatch {
	if want.kind != live.kind {
		return &mismatch{"", show(want.value), show(live.value)}
	}
	w, l := want.value, live.value
	if want.kind == "request" { // the agent numbers its requests
		w, l = without(w, "id"), without(l, "id")
	}
	if want.hasStatus && live.hasStatus && want.hasContent != live.hasContent {
		w, l = withoutContent(w), withoutContent(l)
	}
	return m.compare.equal(w, l)
}

// withoutContent returns an update of a call without the content of its card.
func withoutContent(value any) any {
	message, _ := value.(map[string]any)
	params, _ := message["params"].(map[string]any)
	message, params = maps.Clone(message), maps.Clone(params)
	params["update"] = without(params["update"], "content")
	message["params"] = params
	return message
}

// without returns an object without one of its members.
func without(value any, name string) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	object = maps.Clone(object)
	delete(object, name)
	return object
}

// accept notes that a recorded frame has come.
func (m *matcher) accept(want, live *frame) {
	want.done = true
	m.matched++
	if want.kind == "request" {
		m.requestIDs[want.id] = live.id
	}
	m.player.Finish(want.entry)
}

// unexpected ends the replay because a frame matches none of the recorded ones. Where the recorded process was
// killed there is no difference: it might have sent the frame next.
func (m *matcher) unexpected(live *frame) {
	if m.player.HasEnd() {
		_ = m.player.Differ(record.Difference{
			Entry: m.player.Progress().First, What: "the agent sends what is not in the recording", Want: "nothing", Got: show(live.value),
		})
	}
}

// differ ends the replay because a frame is not the recorded one.
func (m *matcher) differ(want, live *frame) {
	d := m.difference(want, live)
	_ = m.player.Differ(record.Difference{
		Entry: want.entry, What: "the agent sends something else", Path: d.path, Want: d.want, Got: d.got,
	})
}
