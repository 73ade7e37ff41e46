package rpc

import (
	"context"
	"fmt"
	"io"
	"sync"
)

const (
	// queueLimit is how many bytes may wait for a peer that does not read. A frame is
	// admitted while less is queued, so the bound is this plus one frame.
	queueLimit = 1 << 20
	// answerLimit leaves answers given on the read loop room above queueLimit, so that
	// a peer that is slow to read does not at once stop us reading.
	answerLimit = queueLimit + 64<<10
	// noLimit admits a frame always: only for small ones whose number is bounded.
	noLimit = int(^uint(0) >> 1)
)

// output is the ordered writer of a connection: frames leave whole, in the order of
// their put. A frame is on its way as soon as the one before it is written; what
// gathers meanwhile goes out in one write.
//
// One goroutine, run by Conn.Run, writes. It blocks on the stream or on work, and ends
// by close or a write error.
type output struct {
	w     io.Writer
	trace func(dir string, line []byte)
	work  chan struct{} // of capacity 1; a value in it says that frames wait, or that the output closes
	done  chan struct{} // closed when nothing can be sent any more

	mu       sync.Mutex    // guards what follows
	waiting  []byte        // frames that run has not fetched yet
	writing  int           // bytes in the Write that is under way
	accepted int64         // bytes put so far
	written  int64         // bytes written so far
	progress chan struct{} // closed after the next write; nil when nothing waits for it
	closing  bool          // no more frames, write what waits
	err      error         // why done is closed
}

func newOutput(w io.Writer, trace func(string, []byte)) *output {
	return &output{w: w, trace: trace, work: make(chan struct{}, 1), done: make(chan struct{})}
}

// put appends a frame, newline included, blocking while limit bytes are queued.
func (o *output) put(ctx context.Context, frame []byte, limit int) error {
	o.mu.Lock()
	for {
		if err := o.refusal(); err != nil {
			o.mu.Unlock()
			return err
		}
		if len(o.waiting)+o.writing < limit {
			break
		}
		if err := o.await(ctx); err != nil {
			return err
		}
		o.mu.Lock()
	}
	if o.trace != nil {
		o.trace("out", frame[:len(frame)-1])
	}
	o.waiting = append(o.waiting, frame...)
	o.accepted += int64(len(frame))
	o.mu.Unlock()
	select {
	case o.work <- struct{}{}:
	default:
	}
	return nil
}

// room blocks until less than queueLimit is queued.
func (o *output) room(ctx context.Context) error {
	o.mu.Lock()
	for o.refusal() == nil && len(o.waiting)+o.writing >= queueLimit {
		if err := o.await(ctx); err != nil {
			return err
		}
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	return o.refusal()
}

// flush blocks until all that was put before it is written.
func (o *output) flush(ctx context.Context) error {
	o.mu.Lock()
	target := o.accepted
	for o.err == nil && o.written < target {
		if err := o.await(ctx); err != nil {
			return err
		}
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	if o.written >= target {
		return nil
	}
	return o.err
}

// position returns how many bytes were put, and how many of them are written. Once nothing
// can be sent any more, nothing is unwritten.
func (o *output) position() (accepted, written int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.accepted, o.accepted
	}
	return o.accepted, o.written
}

// await unlocks mu and waits for the next write to end. It returns with mu unlocked.
func (o *output) await(ctx context.Context) error {
	if o.progress == nil {
		o.progress = make(chan struct{})
	}
	progress := o.progress
	o.mu.Unlock()
	select {
	case <-progress:
		return nil
	case <-o.done:
		return nil // the caller finds out why
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reason says why done is closed.
func (o *output) reason() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// refusal says why no frame can be accepted, or nil. mu is held.
func (o *output) refusal() error {
	if o.err != nil {
		return o.err
	}
	if o.closing {
		return ErrClosed
	}
	return nil
}

// run writes until close or a write error, which it returns.
func (o *output) run() error {
	var batch []byte
	for range o.work {
		for {
			var last bool
			if batch, last = o.swap(batch); len(batch) == 0 {
				if last {
					o.finish(ErrClosed)
					return nil
				}
				break
			}
			n, err := o.w.Write(batch)
			if err == nil && n < len(batch) {
				err = io.ErrShortWrite
			}
			if err != nil {
				err = fmt.Errorf("write to the peer: %w", err)
				o.finish(fmt.Errorf("%w: %w", ErrClosed, err))
				return err
			}
			o.wrote(n)
		}
	}
	return nil
}

// swap exchanges the waiting frames for the empty, spare buffer.
func (o *output) swap(spare []byte) (batch []byte, last bool) {
	const keep = 256 << 10 // one large frame must not stay in memory for good
	if cap(spare) > keep {
		spare = nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	batch, o.waiting = o.waiting, spare[:0]
	o.writing = len(batch)
	return batch, o.closing
}

func (o *output) wrote(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written += int64(n)
	o.writing = 0
	if o.progress != nil {
		close(o.progress)
		o.progress = nil
	}
}

// close refuses further frames and lets run write what waits and return.
func (o *output) close() {
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	select {
	case o.work <- struct{}{}:
	default:
	}
}

// finish refuses all later frames and wakes every waiting call. Conn.Run calls it, too, when run
// hangs in a Write.
func (o *output) finish(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	o.err = err
	o.waiting, o.writing = nil, 0
	close(o.done)
}
