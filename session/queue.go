package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// turnQueue runs turns one at a time, in the order in which they were added. It knows
// nothing of sessions: run runs a turn, and abort ends what the turns left in the background.
//
// The answer to a turn is delivered by its caller, who then calls [Turn.Release]. Until then
// the next turn does not start, so that nothing of it can be taken for a part of the answer.
//
// Goroutines: one that runs turns, alive only while there is one, and one for each prompt
// that is answered during another turn. They end with ctx; wait waits for them.
type turnQueue struct {
	ctx context.Context
	run func(*Turn) (loop.StopReason, error)
	// abort is called with the lock held, so that it cannot hit the next turn. It neither
	// blocks nor uses the queue.
	abort func()

	goroutines sync.WaitGroup

	mu       sync.Mutex // guards what follows
	current  *Turn
	queued   []*Turn
	steered  []*Turn // went into the current turn, and end with it
	draining bool    // drain is running
	closed   bool
}

func newTurnQueue(ctx context.Context, run func(*Turn) (loop.StopReason, error), abort func()) *turnQueue {
	return &turnQueue{ctx: ctx, run: run, abort: abort}
}

// add runs a turn at once when the queue is idle, and after the others otherwise (R143). A
// turn that can be answered during another one is answered then. It never blocks, so that a
// cancel that arrives right after it finds the turn.
func (q *turnQueue) add(t *Turn) *Turn {
	t.queue, t.done, t.released = q, make(chan struct{}), make(chan struct{})
	t.ctx, t.cancel = context.WithCancelCause(q.ctx)
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
	case t.synthetic != nil: // the prompt that waits is to know of it
		q.queued = slices.Insert(q.queued, q.nextPrompt(func(*Turn) bool { return true }), t)
	default:
		q.queued = append(q.queued, t)
	}
	return t
}

// deliver puts the message about a background subagent into the conversation: at once
// when the session is idle, after the turn that runs otherwise, and before any prompt
// that waits (R68). The message is for the model; text is shown to the user.
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

// cancelCurrent ends the running turn and what runs in the background (R67); queued prompts
// stay. When no turn is running it only ends the latter, and nothing that is added later is
// affected.
//
// A turn that has ended stays the current one until its answer is delivered. The client may
// have that answer, and have sent its next prompt and a cancel of that, a moment before the
// delivery is known here: then the cancel is for the next turn. The same holds during a
// synthetic turn, which is not a turn to the client.
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

// last is the known turn that runs last; nil when the queue is idle.
func (q *turnQueue) last() *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.queued); n > 0 {
		return q.queued[n-1]
	}
	return q.current
}

// running reports whether the turn of a prompt runs that takes its time, and how many prompts
// wait. A command that is answered at once does not.
func (q *turnQueue) running() (busy bool, waiting int) {
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
			t.Release() // it has no answer
		}
		for _, answered := range append(q.answered(), t) {
			select {
			case <-answered.released:
			case <-q.ctx.Done():
				q.awaitRelease(answered)
			}
		}
	}
}

// answered are the prompts that ended with the turn into which they went.
func (q *turnQueue) answered() []*Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.steered
	q.steered = nil
	return list
}

// next returns the turn to run; without one drain ends.
func (q *turnQueue) next() *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.draining = q.current != nil
	return q.current
}

// finish ends a turn. When it failed, the prompts that wait at this moment will not run. A
// prompt that is added later may come from a client that has the answer, before the delivery
// is known here: that one runs.
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

// answerWait is how long a queue that ends waits for the answer of its last turn to be
// delivered.
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
