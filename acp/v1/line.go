package v1

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/tools"
)

const (
	// leftAfter is how long a question of a subagent in the background may be left unanswered
	// before one of the turn that runs takes its turn.
	leftAfter = 30 * time.Second
	// withdrawWait bounds how long the end of a turn waits for a withdrawn question.
	withdrawWait = time.Second
)

// line is the order in which the agents of a session ask the user. One question stands at a
// time. Those of the turn that runs come first, then those of subagents in the background,
// each in the order in which they came; one that was withdrawn goes to the end.
//
// A question of a subagent in the background is withdrawn when a later prompt's turn begins,
// and asked again in it, after a sentence in the chat. In a client that drops what comes
// between turns it is asked within turns only, and withdrawn when the turn ends.
//
// It starts no goroutine: each question waits on that of its call.
type line struct {
	translator *translator
	// sending is held while a request is written, so that none is written once turnEnds has
	// returned.
	sending sync.Mutex

	mu      sync.Mutex // guards what follows; nothing is sent while it is held
	inTurn  bool       // a prompt's turn runs
	shown   *entry
	waiting []*entry
	again   map[string]bool // calls whose question was withdrawn
}

var _ tools.Line = (*line)(nil)

// entry is one question.
type entry struct {
	callID string
	// agents are the names of the subagent that asks; background says that the turn does not
	// wait for it.
	agents     []string
	background bool
	// late says that the user is told in the chat who asks: the question has waited for a
	// turn, or was withdrawn.
	late bool

	ctx    context.Context
	cancel context.CancelCauseFunc
	since  time.Time     // when it was its turn
	turn   chan struct{} // closed then
	left   chan struct{} // closed when it is over
}

type entryKey struct{}

// entryOf is the question that a context of Enter is for; nil in any other context.
func entryOf(ctx context.Context) *entry {
	a, _ := ctx.Value(entryKey{}).(*entry)
	return a
}

// Enter implements tools.Line.
func (l *line) Enter(ctx context.Context, callID string) (asking context.Context, leave func(), err error) {
	a := &entry{callID: callID, turn: make(chan struct{}), left: make(chan struct{})}
	a.agents, a.background = l.translator.whose(callID)
	a.ctx, a.cancel = context.WithCancelCause(context.WithValue(ctx, entryKey{}, a))
	l.mu.Lock()
	a.late = l.again[callID] || a.background && !l.open()
	delete(l.again, callID)
	l.waiting = append(l.waiting, a)
	l.advance()
	before := l.shown
	l.mu.Unlock()

	var patience <-chan time.Time
	if !a.background && before != a && before.background {
		timer := time.NewTimer(leftAfter - time.Since(before.since))
		defer timer.Stop()
		patience = timer.C
	}
	for {
		select {
		case <-a.turn: // it may be withdrawn already
			return a.ctx, func() { l.leave(a) }, nil
		case <-patience:
			l.withdraw(before)
		case <-ctx.Done():
			l.leave(a)
			return nil, nil, ctx.Err()
		}
	}
}

// open reports whether a subagent in the background may ask now.
func (l *line) open() bool { return l.inTurn || !l.translator.client.dropsBetweenTurns }

// advance has the next question asked, if none is. The lock is held.
func (l *line) advance() {
	if l.shown != nil {
		return
	}
	at := slices.IndexFunc(l.waiting, func(a *entry) bool { return !a.background })
	if at < 0 && l.open() && len(l.waiting) > 0 {
		at = 0
	}
	if at < 0 {
		return
	}
	a := l.waiting[at]
	l.waiting = slices.Delete(l.waiting, at, at+1)
	l.shown, a.since = a, time.Now()
	close(a.turn)
}

// leave ends a question, whether it was its turn or not.
func (l *line) leave(a *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.cancel(nil)
	close(a.left)
	if l.shown == a {
		l.shown = nil
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(other *entry) bool { return other == a })
	l.advance()
}

// withdraw takes a question back that is still unanswered.
func (l *line) withdraw(a *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown == a {
		l.takeBack()
	}
}

// takeBack withdraws the question that is asked. The lock is held.
func (l *line) takeBack() {
	l.shown.cancel(tools.ErrWithdrawn)
	l.again[l.shown.callID] = true
}

// turnBegins is for the moment when the turn of a prompt begins: what was left unanswered is
// asked in it again.
func (l *line) turnBegins() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inTurn {
		return
	}
	l.inTurn = true
	if l.shown != nil && l.shown.background {
		l.takeBack()
	}
	l.advance()
}

// turnEnds is for the moment before a turn ends. When it returns, no question of a subagent in
// the background stands in a client that would lose it.
func (l *line) turnEnds() {
	l.mu.Lock()
	l.inTurn = false
	for _, waits := range l.waiting {
		waits.late = waits.late || waits.background && !l.open()
	}
	a := l.shown
	if l.open() || a == nil || !a.background {
		l.mu.Unlock()
		return
	}
	l.takeBack()
	l.mu.Unlock()
	l.awaitSending()
	wait := time.NewTimer(withdrawWait)
	defer wait.Stop()
	select {
	case <-a.left:
	case <-wait.C:
	}
}

// awaitSending waits until a request that is being written is written. None is begun
// afterwards for a question that was withdrawn.
func (l *line) awaitSending() {
	l.sending.Lock()
	defer l.sending.Unlock()
}
