package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// maxQueued bounds the bytes that wait to be written. If the disk is so slow, the recording ends; the agent
// never waits for it.
const maxQueued = 128 << 20

const (
	// gatherTime is how long entries wait for more, so that they are cleaned and written after their step of the
	// turn and not during it. A killed process loses the entries of that time.
	gatherTime = 100 * time.Millisecond
	// maxGathered is how many bytes are written without a wait.
	maxGathered = 1 << 20
)

// Options are what a Recorder is made of.
type Options struct {
	Header Header
	// Clean removes secrets from a text; nil leaves texts as they are.
	Clean func(string) string
	// Begins reports whether a text may end in the middle of a secret; nil means that none does.
	Begins func(string) bool
	// Secrets returns how many secrets Clean knows; when there are more, texts are cleaned again. nil means that
	// their number does not change.
	Secrets func() int
	// Failed is called once, when the recording ends because it cannot be written.
	Failed func(error)
}

// Recorder writes a recording. It is safe for concurrent use; no method waits for the disk.
//
// Goroutines: one that cleans and writes, which Close ends; one that calls Options.Failed.
type Recorder struct {
	o     Options
	file  *os.File
	start time.Time
	wake  chan struct{} // has one value while entries wait
	hurry chan struct{} // has one value when they are to be written at once
	done  chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex // guards what follows, and the order of entries
	queue   []pending
	size    int  // bytes in queue
	last    int  // number of the last exchange or call
	ordered int  // entries that have a place in the order of a replay
	closed  bool // no more entries
	failure error
}

// pending is an entry that waits to be written.
type pending struct {
	Entry
	// size is how many bytes the entry has besides its data.
	size int
	// complete adds what is expensive to find to the entry, before it is written; nil leaves it as it is.
	complete func(*joiner, *waitingEntry)
}

// Create starts a recording in a new file that only this user can read. An existing file is an error.
func Create(path string, o Options) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("record to %s: the file exists already, and is not overwritten", path)
	}
	if err != nil {
		return nil, fmt.Errorf("record to %s: %w", path, errors.Unwrap(err))
	}
	if o.Clean == nil {
		o.Clean = func(text string) string { return text }
	}
	if o.Begins == nil {
		o.Begins = func(string) bool { return false }
	}
	if o.Secrets == nil {
		o.Secrets = func() int { return 0 }
	}
	o.Header.Format, o.Header.Version = format, version
	r := &Recorder{o: o, file: file, start: o.Header.Started, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), done: make(chan struct{})}
	line, err := encode(o.Header)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	if err != nil {
		_ = file.Close()
		_ = os.Remove(path)
		return nil, fmt.Errorf("record to %s: %w", path, err)
	}
	go r.write()
	return r, nil
}

// Line records a line of the wire; it may be used as the OnLine of a connection.
func (r *Recorder) Line(dir string, line []byte) {
	r.add(pending{Entry: Entry{Kind: Kind(dir), Data: bytes.Clone(line)}})
}

// End records the end of the input.
func (r *Recorder) End() { r.add(pending{Entry: Entry{Kind: InEnd}}) }

// number returns the number of the next exchange or call.
func (r *Recorder) number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	return r.last
}

// orderedEntries returns how many entries have come that have a place in the order of a replay.
func (r *Recorder) orderedEntries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ordered
}

func (r *Recorder) add(p pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.failure != nil {
		return
	}
	p.MS = time.Since(r.start).Milliseconds()
	if !p.Kind.unordered() {
		r.ordered++
	}
	if r.queue = append(r.queue, p); len(r.queue) == 1 {
		signal(r.wake)
	}
	if r.size += len(p.Data) + p.size; r.size > maxGathered {
		signal(r.hurry)
	}
	if r.size > maxQueued {
		r.fail(errors.New("the disk is too slow"))
	}
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// fail ends the recording; the caller holds mu.
func (r *Recorder) fail(err error) {
	if r.failure != nil {
		return
	}
	r.failure, r.queue, r.size = err, nil, 0
	if r.o.Failed != nil {
		go r.o.Failed(err) // it may record, and so needs the lock
	}
}

// drain empties the queue and returns what was in it; ended says that no entry follows.
func (r *Recorder) drain() (list []pending, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, r.queue, r.size = r.queue, nil, 0
	return list, r.closed
}

// write cleans and writes entries until the recording is closed.
func (r *Recorder) write() {
	defer close(r.done)
	join := newJoiner(r.o, func(lines []byte) error {
		_, err := r.file.Write(lines)
		return err
	})
	for ended := false; !ended; {
		timeout := join.flushTime()
		select {
		case <-r.wake:
			select {
			case <-r.hurry:
			case <-time.After(gatherTime):
			}
		case <-timeout:
		}
		var list []pending
		list, ended = r.drain()
		now := time.Now()
		for i := range list {
			join.add(list[i], now)
			list[i] = pending{}
		}
		if err := join.flush(ended, now); err != nil {
			r.mu.Lock()
			r.fail(err)
			r.mu.Unlock()
			return
		}
	}
}

// Close writes the queue and ends the recording.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.add(pending{Entry: Entry{Kind: Closed}})
	r.mu.Lock()
	r.closed = true
	signal(r.wake)
	signal(r.hurry)
	r.mu.Unlock()
	<-r.done
	err := r.file.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return r.failure
	}
	return err
}

// lineData returns a line of the wire as the data of an entry: itself when it is JSON on one line, else its text
// as a string.
func lineData(line []byte) json.RawMessage {
	if json.Valid(line) && bytes.IndexByte(line, '\n') < 0 {
		return line
	}
	quoted, _ := encode(string(line)) // a string always encodes
	return quoted
}
