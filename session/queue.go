package session

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// turnQueue runs turns one at a time, in the order in which they were added. It does not depend on
// sessions: run runs a turn, and abort ends what the turns left in the background.
//
// The caller delivers the answer to a turn and then calls [Turn.Release]. Until then the next turn does
// not start, so that nothing of it can be taken for a part of the answer.
//
// Goroutines: one that runs turns, alive only while there is one, and one for each prompt
// that is answered during another turn. They end with ctx; wait waits for them.
type turnQueue struct {
	ctx context.Context
	run func(*Turn) (loop.StopReason, error)
	// abort is called with the lock held, so that it cannot hit the next turn. It neither
	// blocks nor uses the queue.
	abort func()
	// reach is called, without the lock, when the message of a turn of the agent itself has been shown, and
	// when its turn is over: a prompt that comes in between is treated as one during a turn.
	reach func(point string)

	goroutines sync.WaitGroup

	accepted atomic.Int64 // the number of prompts that came

	mu       sync.Mutex // guards what follows
	current  *Turn
	queued   []*Turn
	steered  []*Turn // prompts that went into the current turn, and end with it
	draining bool    // drain is running
	closed   bool
	// announced is closed when the last prompt that waits has been announced; queued_notice.go.
	announced <-chan struct{}
}

func newTurnQueue(ctx context.Context, run func(*Turn) (loop.StopReason, error), abort func()) *turnQueue {
	return &turnQueue{ctx: ctx, run: run, abort: abort, reach: func(string) {}}
}

// add runs a turn at once when the queue is idle, and after the others otherwise (R143). A
// turn that can be answered during another one is answered then. It never blocks, so that a
// cancel that arrives right after it finds the turn.
func (q *turnQueue) add(t *Turn) *Turn {
	q.prepare(t)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		t.end(loop.Cancelled, nil)
	case q.current == nil:
		q.current = t
		if !q.draining {
			q.draining = true
			q.goroutines.Go(q.drain)
		}
	case t.during != nil && !q.current.ended():
		q.goroutines.Go(func() { t.end(t.during(t.ctx)) })
	case t.synthetic != nil: // before the prompts that wait, so that the model reads it first
		q.queued = slices.Insert(q.queued, q.nextPrompt(func(*Turn) bool { return true }), t)
	default:
		q.queued = append(q.queued, t)
	}
	return t
}

// prepare makes a turn one of the queue.
func (q *turnQueue) prepare(t *Turn) {
	t.queue, t.done, t.released = q, make(chan struct{}), make(chan struct{})
	t.ctx, t.cancel = context.WithCancelCause(q.ctx)
}

// deliver puts the message about a background subagent into the conversation: at once when the session
// is idle, otherwise after the turn that runs and before the prompts that wait (R68). The message is for
// the model; text is shown to the user.
func (q *turnQueue) deliver(message *transcript.Message, text string, after <-chan struct{}) {
	q.add(&Turn{synthetic: &synthetic{message: message, text: text, after: after}})
}

// nextPrompt is the index of the first queued prompt that satisfies ok; the length of the
// queue when none does. The caller holds the lock.
func (q *turnQueue) nextPrompt(ok func(*Turn) bool) int {
	i := slices.IndexFunc(q.queued, func(t *Turn) bool { return t.synthetic == nil && ok(t) })
	if i < 0 {
		return len(q.queued)
	}
	return i
}

// cancelCurrent ends the running turn, what was injected into it, and the subagents in the background
// (R67); queued prompts stay. When no turn is running it only ends the subagents. It does not affect turns
// that are added later.
//
// A turn that has ended stays the current one until Release. A client may have received its answer, and
// have sent the next prompt and a cancel, a moment before Release is called: then the cancel is for that
// prompt. The same holds during a synthetic turn, of which the client does not know.
func (q *turnQueue) cancelCurrent() {
	q.mu.Lock()
	defer q.mu.Unlock()
	running := q.current
	if running != nil && (running.synthetic != nil || running.ended()) {
		if i := q.nextPrompt(func(t *Turn) bool { return t.failedBefore == nil }); i < len(q.queued) {
			running = q.queued[i]
		}
	}
	if running != nil {
		running.cancel(ErrCancelled)
	}
	for _, t := range q.queued {
		if t.injected { // it was to be read in the turn that ends here
			t.cancel(ErrCancelled)
		}
	}
	q.abort()
}

// withdraw cancels one turn: a queued one leaves the queue, the running one is cancelled.
func (q *turnQueue) withdraw(t *Turn, cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.queued, t); i >= 0 {
		q.queued = slices.Delete(q.queued, i, i+1)
		t.end(loop.Cancelled, nil)
		return
	}
	if cause == nil {
		cause = ErrCancelled
	}
	t.cancel(cause)
	if t == q.current && !t.ended() {
		q.abort()
	}
}

// close ends what is queued; turns that are added later end at once. The running turn ends
// with ctx.
func (q *turnQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, t := range q.queued {
		t.end(loop.Cancelled, nil)
	}
	q.queued = nil
}

// wait waits, after close and the end of ctx, for the goroutines.
func (q *turnQueue) wait() { q.goroutines.Wait() }

// busy reports whether a turn runs, or waits.
func (q *turnQueue) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queued) > 0 || q.current != nil && !q.current.ended()
}

// last is the turn at the end of the queue, or the current one; nil when the queue is idle.
func (q *turnQueue) last() *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.queued); n > 0 {
		return q.queued[n-1]
	}
	return q.current
}

// workload reports whether a turn runs that takes time, which a command that is answered at once does
// not, and how many prompts wait.
func (q *turnQueue) workload() (working bool, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.queued {
		if t.synthetic == nil {
			waiting++
		}
	}
	return q.current.takesTime(), waiting
}

// drain runs the current turn and the turns that follow it.
func (q *turnQueue) drain() {
	for t := q.next(); t != nil; t = q.next() {
		stop, err := q.run(t)
		q.finish(t, stop, err)
		if t.synthetic != nil {
			q.reach("message shown")
			t.Release() // it has no answer
			q.reach("message over")
		}
		for _, ended := range append(q.popEnded(), t) {
			select {
			case <-ended.released:
			case <-q.ctx.Done():
				q.awaitRelease(ended)
			}
		}
	}
}

// popEnded removes and returns the prompts that went into the turn that has ended, and ended with it.
func (q *turnQueue) popEnded() []*Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	ended := q.steered
	q.steered = nil
	return ended
}

// next returns the turn to run; without one drain ends.
func (q *turnQueue) next() *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.draining = q.current != nil
	return q.current
}

// finish ends a turn. When it failed, the prompts that wait at this moment will not run. A prompt that is
// added later runs, because its client may have received the failure already.
func (q *turnQueue) finish(t *Turn, stop loop.StopReason, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, queued := range q.queued {
		if queued.synthetic == nil {
			queued.failedBefore = err
		}
	}
	t.end(stop, err)
	for _, steered := range q.steered {
		steered.end(stop, err)
	}
}

// answerWait is how long a queue that closes waits for the answer of its last turn to be delivered.
const answerWait = time.Second

// awaitRelease lets the answer of the last turn be delivered before the queue ends.
func (q *turnQueue) awaitRelease(t *Turn) {
	wait := time.NewTimer(answerWait)
	defer wait.Stop()
	select {
	case <-t.released:
	case <-wait.C:
		q.advance(t)
	}
}

// advance replaces t as the current turn by the first queued one. When t failed, the prompts
// that waited for it end instead (R143), each after its answer.
func (q *turnQueue) advance(t *Turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.current != t {
		return
	}
	q.current = nil
	q.queued = slices.DeleteFunc(q.queued, func(queued *Turn) bool {
		if queued.failedBefore != nil {
			queued.end("", &NotRunError{Cause: queued.failedBefore})
		}
		return queued.failedBefore != nil
	})
	if len(q.queued) > 0 {
		q.current, q.queued = q.queued[0], q.queued[1:]
	}
}
