package app

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// maxWaiting bounds the records that wait in an outlet, in bytes.
const maxWaiting = 1 << 20

// outlet passes records on to a writer that may hang, such as a pipe without a reader or a file
// on a disk that does not answer. put never waits for the writer. A record for which there is no
// room is dropped and counted; the log has the count in the place of the records.
//
// One goroutine at a time writes. put starts it, and it ends when no record waits. A
// goroutine that hangs in a write ends with the process.
type outlet struct {
	write func(record []byte)

	mu      sync.Mutex // guards what follows
	waiting [][]byte
	size    int // of what waits and what is being written
	dropped int
	idle    chan struct{} // closed when the goroutine ends; nil while there is none
}

// put takes a copy of a record.
func (o *outlet) put(record []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size+len(record) > maxWaiting {
		o.dropped++
		return
	}
	o.tellDropped()
	o.add(bytes.Clone(record))
	if o.idle == nil {
		o.idle = make(chan struct{})
		go o.run(o.idle)
	}
}

// Write is put as an io.Writer.
func (o *outlet) Write(record []byte) (int, error) {
	o.put(record)
	return len(record), nil
}

// tellDropped adds a record of how many were dropped. The caller holds mu.
func (o *outlet) tellDropped() {
	if o.dropped == 0 {
		return
	}
	var record bytes.Buffer
	slog.New(slog.NewTextHandler(&record, nil)).Warn("log records were dropped, for their reader was too slow", "count", o.dropped)
	o.dropped = 0
	o.add(record.Bytes())
}

func (o *outlet) add(record []byte) {
	o.waiting = append(o.waiting, record)
	o.size += len(record)
}

// run writes until nothing waits.
func (o *outlet) run(idle chan struct{}) {
	defer close(idle)
	for record := o.next(0); record != nil; record = o.next(len(record)) {
		o.write(record)
	}
}

// next returns the record to be written now, or nil; written is the size of the last one.
func (o *outlet) next(written int) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= written
	if len(o.waiting) == 0 {
		o.tellDropped()
	}
	if len(o.waiting) == 0 {
		o.waiting, o.idle = nil, nil
		return nil
	}
	record := o.waiting[0]
	o.waiting[0] = nil
	o.waiting = o.waiting[1:]
	return record
}

// flush waits until no record waits to be written, or until ctx ends.
func (o *outlet) flush(ctx context.Context) {
	o.mu.Lock()
	idle := o.idle
	o.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
