package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Difference is the first thing in which a replay differs from its recording.
type Difference struct {
	// Entry is the index of the entry that was expected, or that came last before what was not.
	Entry int
	// What says in words what differs, Path where in the message, Want and Got how.
	What, Path, Want, Got string
}

// Error says what differs.
func (d *Difference) Error() string { return d.What }

// Player answers from a recording. Everything that came from outside comes where it stands in
// the recording: after all that came before it, and after all that the agent had sent by then.
// It is safe for concurrent use and starts no goroutines.
type Player struct {
	*Recording
	// same makes texts of this process comparable with those of the recording.
	same func([]byte) []byte

	mu        sync.Mutex // guards what follows
	done      []bool
	first     int           // the first entry that is not done
	moved     chan struct{} // closed when first moves, or the replay stops
	progress  time.Time
	stopped   *Difference
	ended     bool
	used      map[string]int  // by kind, name and key: the last entry that answered
	taken     map[string]bool // ids that came with what was played
	listeners map[string]func(name string, data []byte)
}

// NewPlayer returns a player of a recording.
func NewPlayer(r *Recording) *Player {
	p := &Player{
		Recording: r, done: make([]bool, len(r.Entries)), moved: make(chan struct{}), progress: time.Now(),
		used: map[string]int{}, taken: map[string]bool{}, listeners: map[string]func(string, []byte){},
	}
	p.same = func(text []byte) []byte { return text }
	for i, e := range r.Entries {
		switch e.Kind {
		case ID, Answered, Called, Returned, Closed:
			p.done[i] = true // they are asked for, and stand for no moment
		}
	}
	p.advance()
	return p
}

// Same has texts of this process replaced before they are compared, such as its directories.
func (p *Player) Same(same func([]byte) []byte) { p.same = same }

// advance moves first; the lock is held.
func (p *Player) advance() {
	for p.first < len(p.done) && p.done[p.first] {
		p.first++
	}
	p.progress = time.Now()
	close(p.moved)
	p.moved = make(chan struct{})
}

// Finish notes that entries have come.
func (p *Player) Finish(entries ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range entries {
		p.done[i] = true
	}
	p.advance()
}

// Moved notes that the replay goes on, though no entry has come.
func (p *Player) Moved() { p.Finish() }

// Await waits until all entries before one have come. Its error is that of ctx, or of the end
// of the replay.
func (p *Player) Await(ctx context.Context, entry int) error {
	for {
		p.mu.Lock()
		moved, first, over := p.moved, p.first, p.stopped != nil || p.ended
		p.mu.Unlock()
		switch {
		case over:
			return errOver
		case first >= entry:
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var errOver = errors.New("the replay is over")

// Differ ends the replay with a difference, unless there was one before.
func (p *Player) Differ(d Difference) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped == nil && !p.ended {
		p.stopped = &d
	}
	p.advance()
	return &d
}

// Stop ends the replay.
func (p *Player) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.advance()
}

// State returns the first entry that has not come, since when it is waited for, and the
// difference that ended the replay.
func (p *Player) State() (first int, since time.Time, moved <-chan struct{}, d *Difference) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first, p.progress, p.moved, p.stopped
}

// answer returns the next answer to a question, else the last one again.
func (p *Player) answer(kind Kind, name, key string) (e Entry, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := string(kind) + "\x00" + name + "\x00" + key
	last, asked := p.used[id]
	from := 0
	if asked {
		from = last + 1
	}
	for i := from; i < len(p.Entries); i++ {
		e := &p.Entries[i]
		if kind == ID && p.taken[e.Key] {
			continue
		}
		if e.Kind == kind && e.Name == name && (kind == ID || e.Key == key) {
			p.used[id] = i
			return *e, true
		}
	}
	if asked && kind != ID {
		return p.Entries[last], true
	}
	return Entry{}, false
}

// agentID matches the ids that the agent makes of what it says.
var agentID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:msg|prt|trn)_[0-9a-f]{12}[0-9a-z]{14}`)
})

// cancelGrace is how long what the recording does not have may still turn out to be cancelled: a
// cancel that came first when it was recorded may come a moment later now.
const cancelGrace = time.Second

// unlessCancelled ends the replay with a difference, unless ctx ends within the grace: then the
// recorded cancel was on its way.
func (p *Player) unlessCancelled(ctx context.Context, d Difference) error {
	grace := time.NewTimer(cancelGrace)
	defer grace.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-grace.C:
		return p.Differ(d)
	}
}

// take notes the ids in what is played, which are not made again.
func (p *Player) take(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range agentID().FindAll(data, -1) {
		p.taken[string(id)] = true
	}
}

// call finds the next recorded call with a name and an input.
func (p *Player) call(ctx context.Context, name, key, input string) (n int, err error) {
	p.mu.Lock()
	id := "call\x00" + name + "\x00" + key
	from := 0
	if last, ok := p.used[id]; ok {
		from = last + 1
	}
	for i := from; i < len(p.Entries); i++ {
		if e := &p.Entries[i]; e.Kind == Called && e.Name == name && e.Key == key {
			p.used[id] = i
			p.mu.Unlock()
			return e.Of, nil
		}
	}
	first := p.first
	p.mu.Unlock()
	return 0, p.unlessCancelled(ctx, Difference{
		Entry: first, What: "the agent makes a call that is not in the recording: " + name, Got: input,
	})
}

// next waits for the next entry of an exchange or call, and takes it; ok is false when there is
// none before the replay ends.
func (p *Player) next(ctx context.Context, n int) (e Entry, ok bool) {
	p.mu.Lock()
	at := slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Of == n && e.Kind == Called || e.Of == n && e.Kind == Requested })
	for at++; at < len(p.Entries) && (p.Entries[at].Of != n || p.done[at]); at++ {
	}
	p.mu.Unlock()
	if at == len(p.Entries) { // the recording ends before the call did
		at++
	}
	if p.Await(ctx, at) != nil {
		return e, false
	}
	p.Finish(at)
	return p.Entries[at], true
}

// leave takes the rest of an exchange, which is not read any more.
func (p *Player) leave(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, e := range p.Entries {
		if e.Of == n {
			p.done[i] = true
		}
	}
	p.advance()
}

// exchange matches a request with a recorded one: the next that is equal, or else the next one,
// of which it then differs.
func (p *Player) exchange(ctx context.Context, name string, body []byte) (n int, err error) {
	got := fingerprint(p.same(body))
	key := digest(got)
	p.mu.Lock()
	other := -1
	for i, e := range p.Entries {
		if e.Kind != Requested || p.done[i] || e.Name != name {
			continue
		}
		if e.Key == key {
			p.mu.Unlock()
			p.Finish(i)
			return e.Of, nil
		}
		if other < 0 {
			other = i
		}
	}
	first := p.first
	p.mu.Unlock()
	if other < 0 {
		return 0, p.unlessCancelled(ctx, Difference{Entry: first, What: "the agent sends a model request that is not in the recording", Path: name})
	}
	d := Difference{Entry: other, What: "a request to the model differs"}
	d.Path, d.Want, d.Got = compareParts(p.Entries[other].Data, got, p.same(body))
	return 0, p.Differ(d)
}

// listen has the events of a session passed on.
func (p *Player) listen(session string, play func(name string, data []byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners[session] = play
}

// Happen passes an event on.
func (p *Player) Happen(e Entry) {
	p.mu.Lock()
	play := p.listeners[e.Key]
	p.mu.Unlock()
	if play != nil {
		play(e.Name, e.Data)
	}
}

// fingerprint is a request by its parts: short values as they are, and the digest of each long
// one and of each element of a list.
func fingerprint(body []byte) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		quoted, _ := encode(digest(body))
		return quoted
	}
	parts := map[string]any{}
	for name, value := range object {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) == nil && list != nil {
			digests := []string{}
			for _, element := range list {
				digests = append(digests, digest(compact(element)))
			}
			parts[name] = digests
			continue
		}
		parts[name] = part(value)
	}
	data, _ := encode(parts) // strings always encode
	return data
}

func part(value []byte) string {
	const short = 64
	if value = compact(value); len(value) <= short {
		return string(value)
	}
	return digest(value)
}

func compact(value []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}

// compareParts finds the first part in which two fingerprints differ.
func compareParts(want, got, body []byte) (path, wants, gets string) {
	var w, g, values map[string]json.RawMessage
	if json.Unmarshal(want, &w) != nil || json.Unmarshal(got, &g) != nil {
		return "", string(want), string(got)
	}
	_ = json.Unmarshal(body, &values) // got is made of it
	names := make([]string, 0, len(w)+len(g))
	for name := range w {
		names = append(names, name)
	}
	for name := range g {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if bytes.Equal(w[name], g[name]) {
			continue
		}
		var wl, gl []string
		if json.Unmarshal(w[name], &wl) != nil || json.Unmarshal(g[name], &gl) != nil {
			return name, strings.Trim(string(w[name]), `"`), string(values[name])
		}
		var elements []json.RawMessage
		_ = json.Unmarshal(values[name], &elements)
		for i := range max(len(wl), len(gl)) {
			path = fmt.Sprintf("%s[%d]", name, i)
			switch {
			case i >= len(gl):
				return path, wl[i], "nothing"
			case i >= len(wl):
				return path, "nothing", string(elements[i])
			case wl[i] != gl[i]:
				return path, "what has the digest " + wl[i], string(elements[i])
			}
		}
	}
	return "", "", ""
}
