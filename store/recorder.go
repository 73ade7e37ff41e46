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

// Recorder writes one session's stream to its file. It is fed with every event that the
// session's [transcript.Log] is fed with, and folds it in the same way. Emit returns when what
// doc.go calls a boundary is written; whatever goes wrong with the disk, it returns, and the
// session goes on. A nil *Recorder stores nothing. Its methods are safe for concurrent use.
//
// Goroutines: a timer that writes collected deltas, and at most one that syncs. Close ends both.
type Recorder struct {
	store  *Store
	failed func(error)
	stored *Stored // what the file held when it was opened; nil for a new session

	mu       sync.Mutex
	info     Info
	memory   transcript.Memory
	root     *talk
	talks    map[string]*talk     // of opaque subagents, by their ids
	own      map[string]*Recorder // of inspectable subagents, which have files of their own
	dirty    dirt
	seq      int64
	started  bool // something was said: the session is worth a file
	closed   bool
	reported bool     // failed was called
	fault    error    // why the last write failed; nil after one that did not
	refused  error    // a record that cannot be written at all
	outside  []func() // what is to be done when mu is released
	timer    *time.Timer
	ticking  bool

	file *output
	live liveFile

	syncing sync.Mutex // held by one sync at a time, without mu
	syncs   sync.WaitGroup
	wanted  bool // a background sync is to follow
	running bool // a background sync runs
}

// dirt says which records of the session itself have changed since they were written.
type dirt struct{ info, memory bool }

// Create returns the recorder of a new session. The session has no file before something is
// said in it. failed is called, once and without locks held, when the file cannot be written;
// nil means that no one is told.
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
		store: s, failed: failed, info: info, root: newTalk(""), talks: map[string]*talk{}, own: map[string]*Recorder{},
		dirty: dirt{info: true},
	}
	r.file = newOutput(s, info.ID)
	r.live = liveFile{store: s, path: s.path(info.ID, liveEnd)}
	return r
}

// need is how far an event's record must have come before Emit returns.
type need int

const (
	later       need = iota // written within Options.GroupDelay
	written                 // the kernel has it: it survives the end of the process
	syncStarted             // as written, and a sync to the disk has started
	synced                  // on the disk: it survives a power cut
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

// finish brings to the disk what is needed, and releases mu.
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

// tick writes what was collected.
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

// report tells of the first fault.
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

// Err returns why the session is not being stored at the moment; nil while it is.
func (r *Recorder) Err() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}

// Info returns what the store knows of the session itself.
func (r *Recorder) Info() Info {
	if r == nil {
		return Info{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info
}

// SetAdditional notes the further directories that the session has from now on.
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

// Put stores a value of the session's own under a key, in the place of the one before, such as
// its rules. It is written when Put returns, and read by [Stored.State].
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

// Close writes and syncs everything and releases the session. What is emitted later is
// dropped. The error says what could not be stored.
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
	for _, below := range r.talks {
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
		_ = below.Close() // its faults are reported as they happen
	}
	r.syncs.Wait()
	if err == nil {
		err = r.sync()
	}
	r.report(err)
	return errors.Join(err, r.release())
}

// endParts queues the texts that still grow.
func (r *Recorder) endParts(t *talk) {
	for id, p := range t.parts {
		r.addPart(line{sub: t.sub, of: p.of, n: p.n}, p.whole())
		delete(t.parts, id)
	}
}
