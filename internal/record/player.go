package record

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Player answers from a recording, and keeps the recorded order: an entry from outside comes only when all
// entries before it are done, including everything that the agent had sent by then. It is safe for concurrent
// use and starts no goroutines.
//
// This file holds the order. What the agent asks is answered in player_answers.go, its calls and requests
// continue in player_calls.go, and events reach the agent through player_events.go.
type Player struct {
	*Recording
	// AsRecorded turns a text of this process into what a recording of it would have, with the recorded
	// directories and without keys. It is set before the player is used; nil leaves texts as they are.
	AsRecorded func(text []byte) []byte

	mu         sync.Mutex    // guards what follows
	done       []bool        // by entry
	first      int           // the first entry that is not done
	since      time.Time     // when first moved last, or NoteProgress was called
	changed    chan struct{} // closed when since changes, or the replay stops
	difference *Difference   // the one that ended the replay
	stopped    bool

	lastUsed    map[question]int // the last entry that answered a question
	skippedIDs  map[string]bool  // ids that the agent does not ask for
	listeners   map[string]func(name string, data []byte)
	undelivered map[string][]Entry // events of sessions to which no function listens yet
}

// NewPlayer returns a player of a recording.
func NewPlayer(r *Recording) *Player {
	p := &Player{
		Recording: r, done: make([]bool, len(r.Entries)), changed: make(chan struct{}),
		lastUsed: map[question]int{}, skippedIDs: map[string]bool{}, listeners: map[string]func(string, []byte){},
		undelivered: map[string][]Entry{},
	}
	returned := map[int]bool{}
	for i, e := range r.Entries {
		if e.Kind == Returned {
			returned[e.Of] = true
		}
		// What other goroutines emitted while a call ended may have been recorded as a step of it.
		p.done[i] = e.Kind.unordered() || e.Kind == Step && returned[e.Of]
	}
	p.advance()
	return p
}

// HasEnd reports whether the recording has the orderly end of its process. What the agent did after the end of
// a recording without one is unknown.
func (p *Player) HasEnd() bool {
	return slices.ContainsFunc(p.Entries, func(e Entry) bool { return e.Kind == Closed })
}

// asRecorded calls AsRecorded.
func (p *Player) asRecorded(text []byte) []byte {
	if p.AsRecorded == nil {
		return text
	}
	return p.AsRecorded(text)
}

// advance moves first to the first entry that is not done, and wakes everything that waits; the caller holds mu.
func (p *Player) advance() {
	for p.first < len(p.done) && p.done[p.first] {
		p.first++
	}
	p.since = time.Now()
	close(p.changed)
	p.changed = make(chan struct{})
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

// NoteProgress says that the agent continues although no entry is done.
func (p *Player) NoteProgress() { p.Finish() }

var errReplayOver = errors.New("the replay is over")

// Await waits until all entries before one are done. Its error is that of ctx, or says that the replay is over.
func (p *Player) Await(ctx context.Context, entry int) error {
	for {
		p.mu.Lock()
		changed, first, over := p.changed, p.first, p.difference != nil || p.stopped
		p.mu.Unlock()
		switch {
		case over:
			return errReplayOver
		case first >= entry:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// awaitOver waits until the replay is over, or ctx ends, and returns which it was.
func (p *Player) awaitOver(ctx context.Context) error { return p.Await(ctx, len(p.Entries)+1) }

// Stop ends the replay.
func (p *Player) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.advance()
}

// Progress is how far a replay has come.
type Progress struct {
	// First is the first entry that is not done, and Since the time since which that is so.
	First int
	Since time.Time
	// Changed is closed when there is more progress, or the replay stops.
	Changed <-chan struct{}
	// Difference is the difference that ended the replay; nil when there is none.
	Difference *Difference
}

// Progress returns how far the replay has come.
func (p *Player) Progress() Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Progress{First: p.first, Since: p.since, Changed: p.changed, Difference: p.difference}
}
