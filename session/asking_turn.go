package session

import "context"

// askingTurn is a turn in which questions about hosts are asked. A turn takes no more questions before its last
// event, which closes the cards of the turn.
type askingTurn struct {
	questions *hostQuestions
	ctx       context.Context // of the turn; it ends with end
	cancel    context.CancelFunc
}

// turnStarted lets questions be asked in a turn.
func (q *hostQuestions) turnStarted(ctx context.Context) *askingTurn {
	ctx, cancel := context.WithCancel(ctx)
	t := &askingTurn{q, ctx, cancel}
	t.resume()
	return t
}

// resume takes questions, also after awaitAnswers.
func (t *askingTurn) resume() {
	q := t.questions
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turn = t.ctx; q.next != nil {
		close(q.next)
		q.next = nil
	}
}

// awaitAnswers waits until no question is open, or the turn is cancelled. After that the turn takes no more questions.
func (t *askingTurn) awaitAnswers() {
	for open := t.close(false); open != nil; open = t.close(false) {
		select {
		case <-open:
		case <-t.ctx.Done():
			return
		}
	}
}

// end takes no more questions, and withdraws those that are open; they are asked again in the next turn. It may be
// called more than once.
func (t *askingTurn) end() {
	open := t.close(true)
	t.cancel()
	if open != nil {
		<-open
	}
}

// close takes no more questions, and returns a channel that is closed when those that are open are over; nil when
// none is open. If one is open and always is not set, it goes on to take questions.
func (t *askingTurn) close(always bool) (open <-chan struct{}) {
	q := t.questions
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == 0 || always {
		q.turn = nil
	}
	if q.open == 0 {
		return nil
	}
	return q.idle
}
