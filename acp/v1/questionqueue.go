package v1

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/tools"
)

const (
	// unansweredAfter is how long a question of a background subagent may stay unanswered
	// before a question of the running turn replaces it.
	unansweredAfter = 30 * time.Second
	// withdrawWait bounds how long the end of a turn waits for a withdrawn question.
	withdrawWait = time.Second
)

// questionQueue is the order in which the agents of a session ask the user. One question is
// open at a time. Questions of the running turn come first, then those of background
// subagents, each in order of arrival; a withdrawn question goes to the end.
//
// The turn of a later prompt withdraws the open question of a background subagent and asks it
// again, after a sentence in the chat. In a client that drops what arrives between turns,
// background subagents ask only within turns, and the end of a turn withdraws their question.
//
// The queue starts no goroutine: each question waits on the goroutine of its call.
type questionQueue struct {
	translator *translator
	// sending is held while a request is written, so that none is written after turnEnding
	// has returned.
	sending sync.Mutex

	mu        sync.Mutex // guards what follows; nothing is sent while it is held
	inTurn    bool       // the turn of a prompt runs
	open      *queued
	waiting   []*queued
	withdrawn map[string]bool // calls whose question was withdrawn
}

var _ tools.QuestionQueue = (*questionQueue)(nil)

// queued is a question in the queue.
type queued struct {
	callID string
	// agents are the names of the subagent that asks. background says that the turn does not
	// wait for it.
	agents     []string
	background bool
	// announce says that the chat names the subagent first, because the question waited for a
	// turn or was withdrawn.
	announce bool

	ctx    context.Context
	cancel context.CancelCauseFunc
	since  time.Time     // when it was opened
	opened chan struct{} // closed when it is opened
	left   chan struct{} // closed when it is over
}

type queuedKey struct{}

// queuedIn is the question of a context that Enter returned; nil in any other context.
func queuedIn(ctx context.Context) *queued {
	q, _ := ctx.Value(queuedKey{}).(*queued)
	return q
}

// Enter implements tools.QuestionQueue.
func (l *questionQueue) Enter(ctx context.Context, callID string) (asking context.Context, leave func(), err error) {
	q := &queued{callID: callID, opened: make(chan struct{}), left: make(chan struct{})}
	q.agents, q.background = l.translator.agentOf(callID)
	q.ctx, q.cancel = context.WithCancelCause(context.WithValue(ctx, queuedKey{}, q))
	l.mu.Lock()
	q.announce = l.withdrawn[callID] || q.background && !l.backgroundMayAsk()
	delete(l.withdrawn, callID)
	l.waiting = append(l.waiting, q)
	l.openNext()
	before := l.open
	l.mu.Unlock()

	var unanswered <-chan time.Time
	if !q.background && before != q && before.background {
		timer := time.NewTimer(unansweredAfter - time.Since(before.since))
		defer timer.Stop()
		unanswered = timer.C
	}
	for {
		select {
		case <-q.opened: // it may be withdrawn already
			return q.ctx, func() { l.leave(q) }, nil
		case <-unanswered:
			l.withdraw(before)
		case <-ctx.Done():
			l.leave(q)
			return nil, nil, ctx.Err()
		}
	}
}

// backgroundMayAsk reports whether a background subagent may ask now.
func (l *questionQueue) backgroundMayAsk() bool {
	return l.inTurn || !l.translator.out.client.dropsBetweenTurns
}

// openNext opens the next question unless one is open. The lock is held.
func (l *questionQueue) openNext() {
	if l.open != nil {
		return
	}
	at := slices.IndexFunc(l.waiting, func(q *queued) bool { return !q.background })
	if at < 0 && l.backgroundMayAsk() && len(l.waiting) > 0 {
		at = 0
	}
	if at < 0 {
		return
	}
	q := l.waiting[at]
	l.waiting = slices.Delete(l.waiting, at, at+1)
	l.open, q.since = q, time.Now()
	close(q.opened)
}

// leave removes a question, whether it was opened or not.
func (l *questionQueue) leave(q *queued) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q.cancel(nil)
	close(q.left)
	if l.open == q {
		l.open = nil
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(other *queued) bool { return other == q })
	l.openNext()
}

// withdraw withdraws a question if it is still open.
func (l *questionQueue) withdraw(q *queued) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == q {
		l.withdrawOpen()
	}
}

// withdrawOpen withdraws the open question. The lock is held.
func (l *questionQueue) withdrawOpen() {
	l.open.cancel(tools.ErrWithdrawn)
	l.withdrawn[l.open.callID] = true
}

// turnStarted is called when the turn of a prompt starts. The turn asks again what was left
// unanswered.
func (l *questionQueue) turnStarted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inTurn {
		return
	}
	l.inTurn = true
	if l.open != nil && l.open.background {
		l.withdrawOpen()
	}
	l.openNext()
}

// turnEnding is called before a turn ends. When it returns, no question of a background
// subagent is open in a client that would lose it.
func (l *questionQueue) turnEnding() {
	l.mu.Lock()
	l.inTurn = false
	for _, q := range l.waiting {
		q.announce = q.announce || q.background && !l.backgroundMayAsk()
	}
	q := l.open
	if l.backgroundMayAsk() || q == nil || !q.background {
		l.mu.Unlock()
		return
	}
	l.withdrawOpen()
	l.mu.Unlock()
	l.awaitSending()
	wait := time.NewTimer(withdrawWait)
	defer wait.Stop()
	select {
	case <-q.left:
	case <-wait.C:
	}
}

// awaitSending waits until the request that is being written is written. After it no request
// is written for a withdrawn question.
func (l *questionQueue) awaitSending() {
	l.sending.Lock()
	defer l.sending.Unlock()
}
