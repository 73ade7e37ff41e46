package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"acp-agent/transcript"
)

// Recorder writes one session's events to its record. It gets every event that the session's
// [transcript.Log] gets, and folds it in the same way. Emit returns when an event that doc.go calls a
// boundary is written. It also returns when the disk fails, so that the session goes on. A nil *Recorder
// stores nothing. Its methods are safe for concurrent use.
//
// Goroutines: a timer that writes collected deltas, and at most one that syncs. Close ends both.
type Recorder struct {
	store  *Store
	failed func(error)
	stored *Stored // the index of a resumed session; nil for a new one

	mu        sync.Mutex // guards what follows but syncing, after which it is taken
	info      Info
	memory    transcript.Memory
	root      *openConversation
	subagents map[string]*openConversation // of opaque subagents, by their ids
	own       map[string]*Recorder         // of inspectable subagents, which have files of their own
	dirty     dirt
	seq       int64
	started   bool // there is a message: before that, the session gets no file
	closed    bool
	reported  bool     // failed was called
	fault     error    // why the last write failed; nil when it succeeded
	refused   error    // why a line cannot be written at all
	outside   []func() // to call when mu is released
	timer     *time.Timer
	ticking   bool

	file *output
	live liveFile

	syncing sync.Mutex     // held during a sync, without mu
	syncs   sync.WaitGroup // the background sync
	wanted  bool           // the background sync has to sync again
	running bool           // the background sync runs
}

// dirt says whether the Info and the memory of the session have changed since they were written.
type dirt struct{ info, memory bool }

// Create returns the recorder of a new session, which gets a file with its first message. failed is
// called once, without locks held, when the file cannot be written; nil is not called.
func (s *Store) Create(info Info, failed func(error)) *Recorder {
	if s == nil {
		return nil
	}
	now := s.o.Now().UTC()
	info.Version = version
	if info.Created.IsZero() {
		info.Created = now
	}
	return s.recorder(info, failed)
}

func (s *Store) recorder(info Info, failed func(error)) *Recorder {
	r := &Recorder{
		store: s, failed: failed, info: info, root: newOpenConversation(""), subagents: map[string]*openConversation{}, own: map[string]*Recorder{},
		dirty: dirt{info: true},
	}
	r.file = newOutput(s, info.ID)
	r.live = liveFile{store: s, path: s.path(info.ID, liveEnd)}
	return r
}

// need is what has to happen to an event's lines before Emit returns.
type need int

const (
	later       need = iota // written within Options.GroupDelay
	written                 // the kernel has them: they survive the end of the process
	syncStarted             // written, and a sync has started
	synced                  // on the disk: they survive a power cut
)

// Emit implements [transcript.Sink].
func (r *Recorder) Emit(e transcript.Event) {
	if r == nil {
		return
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	needed := r.fold(r.root, e)
	r.finish(needed)
}

// finish does what is needed with the queue, and releases mu.
func (r *Recorder) finish(needed need) {
	var report error
	switch {
	case !r.started:
	case needed == later:
		if r.live.waiting >= liveBytes {
			report = r.flush()
		} else if !r.ticking {
			r.ticking = true
			r.timer = time.AfterFunc(r.store.o.GroupDelay, r.tick)
		}
	default:
		report = r.flush()
	}
	if r.started && (needed == syncStarted || len(r.file.queue) > unsyncedBytes) {
		r.syncSoon()
	}
	report = errors.Join(report, r.refused)
	outside := r.outside
	r.outside, r.refused = nil, nil
	r.mu.Unlock()
	r.report(report)
	for _, do := range outside {
		do()
	}
	if needed == synced {
		r.report(r.sync())
	}
}

// tick writes the lines that were collected.
func (r *Recorder) tick() {
	r.mu.Lock()
	r.ticking = false
	var report error
	if !r.closed && r.fault == nil { // after a fault the next boundary tries again
		report = r.flush()
	}
	r.mu.Unlock()
	r.report(report)
}

// report calls failed with the first fault.
func (r *Recorder) report(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	report := !r.reported && r.failed != nil
	r.reported = true
	r.mu.Unlock()
	if report {
		r.failed(err)
	}
}

// Info returns the session's Info.
func (r *Recorder) Info() Info {
	if r == nil {
		return Info{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info
}

// SetAdditional sets the additional directories of the session.
func (r *Recorder) SetAdditional(additional []string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.info.Additional, additional) {
		r.info.Additional, r.dirty.info = slices.Clone(additional), true
	}
}

// Put stores a value of the session, such as its rules, under a key. It replaces the earlier value, and is
// written when Put returns. [Stored.State] reads it.
func (r *Recorder) Put(key string, value any) error {
	if r == nil {
		return nil
	}
	data, err := encode(value)
	if err != nil {
		return fmt.Errorf("store %q: %w", key, err)
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.add(line{kind: sessionKind, op: opState, of: key, data: cleanJSON(data, r.store.o.Clean, nil)})
	r.finish(written)
	return nil
}

// Close writes and syncs everything, and unlocks the session. Later events are dropped. The error says
// what could not be stored.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.endParts(r.root)
	for _, below := range r.subagents {
		r.endParts(below)
	}
	err := r.flush()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
	own := slices.Collect(maps.Values(r.own))
	r.mu.Unlock()
	for _, below := range own {
		_ = below.Close() // it reports its faults itself
	}
	r.syncs.Wait()
	if err == nil {
		err = r.sync()
	}
	r.report(err)
	return errors.Join(err, r.release())
}

// endParts queues the open texts of a conversation.
func (r *Recorder) endParts(t *openConversation) {
	for id, p := range t.parts {
		r.addPart(line{sub: t.sub, of: p.of, n: p.n}, p.whole())
		delete(t.parts, id)
	}
}
