package replay

import (
	"encoding/json"
	"maps"
	"sync"

	"acp-agent/internal/record"
)

// frames compares the lines that the agent sends with the recorded ones. In a session their order has to be
// the same, except for frames that commute. Texts that arrive in pieces are compared as one text. recorded.go reads
// the recorded ones.
type frames struct {
	player *record.Player
	ended  bool // the recording has the end of its process

	mu        sync.Mutex // guards what follows
	next      int        // the entry of the line that was passed to the agent last; -1 when it is handled
	compare   *comparison
	requests  map[string]request  // the client's, by id
	recorded  callers             // of the recorded calls
	live      callers             // of the calls of this process
	bySession map[string][]*frame // the recorded frames
	skip      map[int]bool        // entries that are not passed to the agent
	ids       map[string]string   // of the agent's requests: recorded to live
	states    map[string]*states  // by session and kind
	matched   int                 // frames that came as recorded
}

func (f *frames) skipped(entry int) bool { return f.skip[entry] }

// pass notes that a line is passed to the agent.
func (f *frames) pass(entry int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = entry
}

// handled notes that the agent has handled the line that was passed to it.
func (f *frames) handled() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next >= 0 {
		f.player.Finish(f.next)
	}
	f.next = -1
}

// count returns the number of frames that came as recorded.
func (f *frames) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.matched
}

// incoming returns a recorded line for the agent, with the ids of this process.
func (f *frames) incoming(data []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text string
	if json.Unmarshal(data, &text) == nil {
		return []byte(text) // a line that is not JSON
	}
	data = agentID().ReplaceAllFunc(data, func(id []byte) []byte {
		if live, ok := f.compare.toLive[string(id)]; ok {
			return []byte(live)
		}
		return id
	})
	var l line
	if json.Unmarshal(data, &l) != nil || l.Method != "" {
		return data
	}
	live, ok := f.ids[string(l.ID)]
	if !ok || live == string(l.ID) {
		return data
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return data
	}
	members["id"] = json.RawMessage(live)
	changed, err := json.Marshal(members)
	if err != nil {
		return data
	}
	return changed
}

// sent compares a line that the agent sends.
func (f *frames) sent(data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	live := parse(data, f.requests)
	f.live.note(live)
	if live.method == "$/cancel_request" {
		return
	}
	session := live.session
	if recorded, ok := f.compare.toRecorded[session]; ok {
		session = recorded
	}
	if live.class.kind == "text" {
		f.matchText(session, live)
		return
	}
	if live.kind == "state" {
		f.stateSent(session, live)
		return
	}
	states, rest := splitStates(live)
	live.value = rest
	f.match(session, live)
	for _, state := range states {
		session := state.session // a response to session/new names it
		if recorded, ok := f.compare.toRecorded[session]; ok {
			session = recorded
		}
		f.stateSent(session, state)
	}
}

// match finds the recorded frame that is equal to live.
func (f *frames) match(session string, live *frame) {
	var first *frame
	var differs *mismatch
	var passed []*frame
	for _, want := range f.bySession[session] {
		if want.done {
			continue
		}
		m := &mismatch{"", show(want.value), show(live.value)}
		if want.kind == live.kind {
			m = f.equal(want, live)
		}
		if m == nil {
			f.accept(want, live)
			return
		}
		if first == nil && !want.progress {
			first, differs = want, m
		}
		if !want.progress && !commute(want, live) {
			break
		}
		passed = append(passed, want)
	}
	if live.progress {
		return
	}
	f.differ(f.closest(passed, first, live), differs, live)
}

// closest returns the recorded frame with which to compare live: one of the same class, else the first.
func (f *frames) closest(passed []*frame, first, live *frame) *frame {
	for _, want := range passed {
		if want.class == live.class && !want.progress {
			return want
		}
	}
	return first
}

func (f *frames) equal(want, live *frame) *mismatch {
	w, l := want.value, live.value
	if want.kind == "request" { // the agent numbers its requests
		w, l = without(w, "id"), without(l, "id")
	}
	if want.moves && live.moves && want.shows != live.shows {
		w, l = withoutContent(w), withoutContent(l)
	}
	return f.compare.equal(w, l)
}

// withoutContent is an update of a call without the content of its card.
func withoutContent(value any) any {
	message, _ := value.(map[string]any)
	params, _ := message["params"].(map[string]any)
	message, params = maps.Clone(message), maps.Clone(params)
	params["update"] = without(params["update"], "content")
	message["params"] = params
	return message
}

func without(value any, name string) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	rest := map[string]any{}
	for key, v := range object {
		if key != name {
			rest[key] = v
		}
	}
	return rest
}

// accept notes that a recorded frame has come.
func (f *frames) accept(want, live *frame) {
	want.done = true
	f.matched++
	if want.kind == "request" {
		f.ids[want.id] = live.id
	}
	f.player.Finish(want.entry)
}

// differ ends the replay with a difference. want is nil when nothing was expected.
func (f *frames) differ(want *frame, m *mismatch, live *frame) {
	if want == nil {
		if !f.ended {
			return // the recorded process was killed, and might have sent it next
		}
		_ = f.player.Differ(record.Difference{Entry: f.player.Progress().First, What: "the agent sends what is not in the recording", Want: "nothing", Got: show(live.value)})
		return
	}
	if want.class == live.class {
		m = f.equal(want, live)
	}
	d := record.Difference{Entry: want.entry, What: "the agent sends something else", Path: m.path, Want: m.want, Got: m.got}
	_ = f.player.Differ(d)
}

// answersAside reports whether a text is an answer that is sent aside (see frame.aside): the first recorded text that
// it continues is one. Such an answer is sent in one piece.
func answersAside(frames []*frame, live *frame) bool {
	for _, want := range frames {
		if !want.done && continues(want, live) {
			return want.aside
		}
	}
	return false
}

// continues reports whether live is the next piece of a recorded text. Of a text that was sent aside, it must be
// the whole.
func continues(want, live *frame) bool {
	switch {
	case want.kind != "text" || want.class != live.class:
		return false
	case want.aside:
		return withoutTimes(want.text) == withoutTimes(live.text)
	}
	rest := want.text[want.compared:]
	n := min(len(rest), len(live.text))
	return withoutTimes(rest[:n]) == withoutTimes(live.text[:n])
}

// ofAnotherAnswer reports whether a recorded text belongs to another answer than a piece that the agent sends.
func ofAnotherAnswer(want, live *frame) bool {
	return want.kind == "text" && (want.aside != live.aside || want.aside && !continues(want, live))
}

// matchText compares a piece of a growing text, which may be cut in other places than the recorded one.
func (f *frames) matchText(session string, live *frame) {
	rest := live.text
	live.aside = answersAside(f.bySession[session], live)
	for _, want := range f.bySession[session] {
		if want.done || want.progress || ofAnotherAnswer(want, live) {
			continue
		}
		if want.class != live.class || !f.compare.texts(want.message, live.message) {
			if commute(want, live) {
				continue
			}
			f.differ(want, &mismatch{"", show(want.value), show(live.value)}, live)
			return
		}
		if want.aside {
			f.accept(want, live)
			return
		}
		n := min(len(rest), len(want.text)-want.compared)
		if !f.compare.texts(want.text[want.compared:want.compared+n], rest[:n]) {
			_ = f.player.Differ(record.Difference{
				Entry: want.entry, What: "the agent says something else", Path: "params.update.content.text",
				Want: want.text[want.compared:], Got: rest,
			})
			return
		}
		want.compared += n
		rest = rest[n:]
		if want.compared == len(want.text) {
			f.accept(want, live)
		}
		if rest == "" {
			return
		}
	}
	if rest != "" {
		f.differ(nil, nil, live)
	}
}
