package replay

import (
	"encoding/json"
	"strings"
	"sync"

	"acp-agent/internal/record"
)

// frames compares what the agent sends with what was recorded. In a session the order has to be
// equal, but for frames that commute. Texts that arrive in pieces are compared as one.
type frames struct {
	player *record.Player
	next   int // the incoming line that was handed to the agent last

	mu       sync.Mutex
	compare  *comparison
	sessions map[string]request  // the client's
	of       map[string][]*frame // recorded, by session
	skip     map[int]bool        // entries that are not played
	ids      map[string]string   // of the agent's requests: recorded to live
	states   map[string]*states  // by session and kind
	matched  int
}

// outside reports the requests that tools make of the editor: they are part of what the tools
// did, and are not made again.
func outside(method string) bool {
	return strings.HasPrefix(method, "fs/") || strings.HasPrefix(method, "terminal/")
}

func newFrames(p *record.Player) *frames {
	f := &frames{
		player: p, compare: newComparison(), sessions: map[string]request{}, of: map[string][]*frame{},
		skip: map[int]bool{}, ids: map[string]string{}, states: map[string]*states{},
	}
	tools := map[string]bool{} // ids of requests of tools
	var free []int
	for i, e := range p.Entries {
		switch e.Kind {
		case record.In:
			var l line
			if json.Unmarshal(e.Data, &l) != nil {
				continue
			}
			if l.Method != "" && l.ID != nil {
				f.sessions[string(l.ID)] = request{l.Params.SessionID, l.Method}
			}
			if l.Method == "" && tools[string(l.ID)] {
				f.skip[i] = true
				free = append(free, i)
			}
		case record.Out:
			out := parse(e.Data, f.sessions)
			out.entry = i
			if out.kind == "state" {
				f.state(out)
				free = append(free, i)
				continue
			}
			if outside(out.method) || out.progress || out.method == "$/cancel_request" {
				if out.id != "" {
					tools[out.id] = true
				}
				free = append(free, i)
				if !out.progress {
					continue
				}
			}
			f.of[out.session] = append(f.of[out.session], out)
		}
	}
	p.Finish(free...)
	return f
}

func (f *frames) skipped(entry int) bool { return f.skip[entry] }

// received notes that the agent has read the line that it was handed.
func (f *frames) received() { f.player.Finish(f.next) }

// count is how many frames were as recorded.
func (f *frames) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.matched
}

// incoming is a recorded line for the agent: with the ids that it has now.
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
	live := parse(data, f.sessions)
	if live.method == "$/cancel_request" {
		return
	}
	session := live.session
	if recorded, ok := f.compare.toRecorded[session]; ok {
		session = recorded
	}
	if live.class.kind == "text" {
		f.texts(session, live)
		return
	}
	if live.kind == "state" {
		f.stateSent(session, live)
		return
	}
	f.match(session, live)
}

// match finds the recorded frame that is equal.
func (f *frames) match(session string, live *frame) {
	var first *frame
	var differs *mismatch
	var passed []*frame
	for _, want := range f.of[session] {
		if want.done {
			continue
		}
		m := &mismatch{"", show(want.value), show(live.value)}
		if want.kind == live.kind {
			m = f.equal(want, live)
		}
		if m == nil {
			f.take(want, live)
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

// closest is the frame that was expected in the place of one: of the same class, else the first.
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
	if want.kind == "request" { // their ids are the agent's own numbers
		w, l = without(w, "id"), without(l, "id")
	}
	return f.compare.equal(w, l)
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

// take notes that a recorded frame has come.
func (f *frames) take(want, live *frame) {
	want.done = true
	f.matched++
	if want.kind == "request" {
		f.ids[want.id] = live.id
	}
	f.player.Finish(want.entry)
}

// differ ends the replay. want is nil when nothing was expected.
func (f *frames) differ(want *frame, m *mismatch, live *frame) {
	if want == nil {
		first, _, _, _ := f.player.State()
		_ = f.player.Differ(record.Difference{Entry: first, What: "the agent sends what is not in the recording", Want: "nothing", Got: show(live.value)})
		return
	}
	if want.class == live.class {
		m = f.equal(want, live)
	}
	d := record.Difference{Entry: want.entry, What: "the agent sends something else", Path: m.path, Want: m.want, Got: m.got}
	_ = f.player.Differ(d)
}

// texts compares a piece of a growing text, whose pieces need not be those of the recording.
func (f *frames) texts(session string, live *frame) {
	rest := live.text
	for _, want := range f.of[session] {
		if want.done || want.progress {
			continue
		}
		if want.class != live.class || !f.compare.texts(want.message, live.message) {
			if commute(want, live) {
				continue
			}
			f.differ(want, &mismatch{"", show(want.value), show(live.value)}, live)
			return
		}
		n := min(len(rest), len(want.text)-want.taken)
		if !f.compare.texts(want.text[want.taken:want.taken+n], rest[:n]) {
			_ = f.player.Differ(record.Difference{
				Entry: want.entry, What: "the agent says something else", Path: "params.update.content.text",
				Want: want.text[want.taken:], Got: rest,
			})
			return
		}
		want.taken += n
		rest = rest[n:]
		if want.taken == len(want.text) {
			f.take(want, live)
		}
		if rest == "" {
			return
		}
	}
	if rest != "" {
		f.differ(nil, nil, live)
	}
}
