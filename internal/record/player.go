package record

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Difference is the first thing in which a replay differs from its recording.
type Difference struct {
	// Entry is the index of the entry that was expected; if none was, the first that has not come.
	Entry int
	// What describes the difference, Path is its place in the message, Want and Got are both sides.
	What, Path, Want, Got string
}

// Error says what differs.
func (d *Difference) Error() string { return d.What }

// Player answers from a recording. It keeps the recorded order: an entry from outside comes after all
// entries before it, including everything that the agent had sent by then. It is safe for concurrent use
// and starts no goroutines.
type Player struct {
	*Recording
	// same replaces names of this process in a text, such as its directories, by the recorded ones.
	same func([]byte) []byte

	mu        sync.Mutex    // guards what follows
	done      []bool        // by entry: it has come
	first     int           // the first entry that is not done
	moved     chan struct{} // closed when first moves, or the replay stops
	progress  time.Time     // when first moved last
	stopped   *Difference   // the difference that ended the replay
	ended     bool
	used      map[string]int  // by kind, name and key: the last entry that answered
	taken     map[string]bool // ids in recorded data that the agent uses again
	listeners map[string]func(name string, data []byte)
	unheard   map[string][]Entry // events of sessions to which no function listens yet
}

// NewPlayer returns a player of a recording.
func NewPlayer(r *Recording) *Player {
	p := &Player{
		Recording: r, done: make([]bool, len(r.Entries)), moved: make(chan struct{}), progress: time.Now(),
		used: map[string]int{}, taken: map[string]bool{}, listeners: map[string]func(string, []byte){},
		unheard: map[string][]Entry{},
	}
	p.same = func(text []byte) []byte { return text }
	returned := map[int]bool{}
	for i, e := range r.Entries {
		if e.Kind == Returned {
			returned[e.Of] = true
		}
		// What others emitted while a command ended may have been recorded as a step of it.
		p.done[i] = e.Kind.anywhere() || e.Kind == Step && returned[e.Of]
	}
	p.advance()
	return p
}

// Same sets a function that replaces names of this process in a text, such as its directories, by the
// recorded ones, before the text is compared.
func (p *Player) Same(same func([]byte) []byte) { p.same = same }

// advance moves first to the first entry that is not done. mu is held.
func (p *Player) advance() {
	for p.first < len(p.done) && p.done[p.first] {
		p.first++
	}
	p.progress = time.Now()
	close(p.moved)
	p.moved = make(chan struct{})
}

// Finish marks entries as done.
func (p *Player) Finish(entries ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range entries {
		p.done[i] = true
	}
	p.advance()
}

// Moved notes progress of the replay without an entry.
func (p *Player) Moved() { p.Finish() }

// Await waits until all entries before one are done. Its error is that of ctx, or says that the replay has
// ended.
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

// State returns the first entry that is not done, since when that is so, a channel that is closed when it
// changes, and the difference that ended the replay.
func (p *Player) State() (first int, since time.Time, moved <-chan struct{}, d *Difference) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first, p.progress, p.moved, p.stopped
}

// answer returns the next answer to a question; if there is none, the last one again. One that had to be
// waited for comes at its place.
func (p *Player) answer(kind Kind, name, key string) (e Entry, ok bool) {
	e, at, ok := p.nextAnswer(kind, name, key)
	if ok && e.Waited {
		_ = p.Await(context.Background(), at) // else the replay is over
	}
	return e, ok
}

// nextAnswer is answer without the wait; at is the place of the answer.
func (p *Player) nextAnswer(kind Kind, name, key string) (e Entry, at int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := answerID(kind, name, key)
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
			return *e, i, true
		}
	}
	if asked && kind != ID {
		return p.Entries[last], last, true
	}
	return Entry{}, 0, false
}

// look waits for the place at which the agent looked at something the next time, and returns what it saw.
// ok is false when the recording has no such place.
func (p *Player) look(name, key string) (e Entry, ok bool) {
	p.mu.Lock()
	id := answerID(Looked, name, key)
	at := 0
	if last, used := p.used[id]; used {
		at = last + 1
	}
	for at < len(p.Entries) && (p.Entries[at].Kind != Looked || p.Entries[at].Name != name || p.Entries[at].Key != key) {
		at++
	}
	p.used[id] = at
	p.mu.Unlock()
	if at == len(p.Entries) {
		return Entry{}, false
	}
	_ = p.Await(context.Background(), at) // else the replay is over
	p.Finish(at)
	return p.Entries[at], true
}

// Ended reports whether the recording has the orderly end of its process. What the agent does after the end of
// another one is not known.
func (p *Player) Ended() bool {
	return slices.ContainsFunc(p.Entries, func(e Entry) bool { return e.Kind == Closed })
}

// answered passes over the answers to questions under some keys that came during a call.
func (p *Player) answered(n int, keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	begin, end := p.span(n)
	for i, e := range p.Entries[begin:end] {
		if e.Kind == Answered && slices.Contains(keys, e.Key) {
			p.used[answerID(e.Kind, e.Name, e.Key)] = begin + i
		}
	}
}

// made passes over the ids that were made during a call, unless the client sent something
// meanwhile: then they may be of that.
func (p *Player) made(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	begin, end := p.span(n)
	if slices.ContainsFunc(p.Entries[begin:end], func(e Entry) bool { return e.Kind == In }) {
		return
	}
	for _, e := range p.Entries[begin:end] {
		if e.Kind == ID {
			p.taken[e.Key] = true
		}
	}
}

// span is where a call begins and ends; the lock is held.
func (p *Player) span(n int) (begin, end int) {
	begin = slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Kind == Called && e.Of == n })
	end = slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Kind == Returned && e.Of == n })
	if end < 0 {
		end = len(p.Entries)
	}
	return begin, end
}

// answerID is what the answers to one question have in common.
func answerID(kind Kind, name, key string) string { return string(kind) + "\x00" + name + "\x00" + key }

// agentID matches the ids of messages, parts and turns, and of calls.
var agentID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:msg|prt|trn|call)_[0-9a-f]{12}[0-9a-z]{14}`)
})

// cancelGrace is how long something that the recording does not have may still be cancelled: the cancel may
// come a moment later than when it was recorded.
const cancelGrace = time.Second

// differUnlessCancelled ends the replay with a difference, unless ctx ends within cancelGrace. What a process
// did that was killed may have come after the end of its recording: then it waits for the end of the replay.
func (p *Player) differUnlessCancelled(ctx context.Context, d Difference) error {
	if !p.Ended() {
		return p.Await(ctx, len(p.Entries)+1)
	}
	grace := time.NewTimer(cancelGrace)
	defer grace.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-grace.C:
		return p.Differ(d)
	}
}

// noteIDs notes the ids in recorded data that the agent uses again. answer skips them.
func (p *Player) noteIDs(data []byte) {
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
	return 0, p.differUnlessCancelled(ctx, Difference{
		Entry: first, What: "the agent makes a call that is not in the recording: " + name, Got: input,
	})
}

// next waits for the place of the next entry of an exchange or call, and marks it as done; ok is false when
// the replay ends before.
func (p *Player) next(ctx context.Context, n int) (e Entry, ok bool) {
	p.mu.Lock()
	at := slices.IndexFunc(p.Entries, func(e Entry) bool { return e.Of == n && e.Kind == Called || e.Of == n && e.Kind == Requested })
	for at++; at < len(p.Entries) && (p.Entries[at].Of != n || p.done[at]); at++ {
	}
	p.mu.Unlock()
	if at == len(p.Entries) { // the call had not ended when the recording did: wait for the end of the replay
		at++
	}
	if p.Await(ctx, at) != nil {
		return e, false
	}
	p.Finish(at)
	return p.Entries[at], true
}

// leave marks the rest of an exchange as done.
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

// exchange finds the recorded request that is equal to a request. If there is none, the replay ends with the
// difference to the next recorded one.
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
		return 0, p.differUnlessCancelled(ctx, Difference{Entry: first, What: "the agent sends a model request that is not in the recording", Path: name})
	}
	d := Difference{Entry: other, What: "a request to the model differs"}
	d.Path, d.Want, d.Got = compareParts(p.Entries[other].Data, got, p.same(body))
	return 0, p.differUnlessCancelled(ctx, d)
}

// listen sets the function that gets the events of a session, with the events that have come already.
func (p *Player) listen(session string, play func(name string, data []byte)) {
	p.mu.Lock()
	p.listeners[session] = play
	early := p.unheard[session]
	delete(p.unheard, session)
	p.mu.Unlock()
	for _, e := range early {
		play(e.Name, e.Data)
	}
}

// Happen passes an event on to the function that listens, once there is one.
func (p *Player) Happen(e Entry) {
	p.mu.Lock()
	play := p.listeners[e.Key]
	if play == nil {
		p.unheard[e.Key] = append(p.unheard[e.Key], e)
	}
	p.mu.Unlock()
	if play != nil {
		play(e.Name, e.Data)
	}
}
