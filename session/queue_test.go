package session

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// queueTest is a queue whose turns end when the test says so.
type queueTest struct {
	*turnQueue
	t      *testing.T
	cancel context.CancelCauseFunc
	ran    []string // the names of the turns that started, in order
	finish chan error
	aborts int
}

// withQueue runs a test in a bubble, in which Wait tells when the queue rests.
func withQueue(t *testing.T, test func(q *queueTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := &queueTest{t: t, finish: make(chan error)}
		ctx, cancel := context.WithCancelCause(t.Context())
		q.cancel = cancel
		q.turnQueue = newTurnQueue(ctx, q.runTurn, func() { q.aborts++ })
		test(q)
		q.close()
		q.cancel(ErrClosed)
		q.wait()
	})
}

// runTurn runs until the test or a cancel ends the turn.
func (q *queueTest) runTurn(t *Turn) (loop.StopReason, error) {
	q.ran = append(q.ran, nameOfTurn(t))
	if t.synthetic != nil {
		return loop.EndTurn, nil
	}
	select {
	case err := <-q.finish:
		return loop.EndTurn, err
	case <-t.ctx.Done():
		return loop.Cancelled, nil
	}
}

func nameOfTurn(t *Turn) string {
	if t.synthetic != nil {
		return t.synthetic.text
	}
	return t.prompt.Text()
}

// prompt adds a prompt.
func (q *queueTest) prompt(name string) *Turn {
	t := q.add(&Turn{prompt: &transcript.Message{Parts: []transcript.Part{&transcript.TextPart{Text: name}}}})
	synctest.Wait()
	return t
}

// ends insists on how a turn ended, and delivers its answer.
func (q *queueTest) ends(t *Turn, stop loop.StopReason) {
	q.t.Helper()
	got, err := t.Wait(q.t.Context())
	if got != stop || err != nil {
		q.t.Errorf("%s ended with %q, %v; want %q", nameOfTurn(t), got, err, stop)
	}
	t.Release()
	synctest.Wait()
}

func (q *queueTest) wantRan(want ...string) {
	q.t.Helper()
	synctest.Wait()
	if !slices.Equal(q.ran, want) {
		q.t.Errorf("turns ran: %q, want %q", q.ran, want)
	}
}

func TestTurnQueue_OneAtATime(t *testing.T) {
	withQueue(t, func(q *queueTest) {
		first, second := q.prompt("first"), q.prompt("second")
		q.finish <- nil
		synctest.Wait()
		q.wantRan("first") // its answer is not delivered
		q.ends(first, loop.EndTurn)
		q.wantRan("first", "second")
		q.finish <- nil
		q.ends(second, loop.EndTurn)
		if q.last() != nil {
			q.t.Error("the queue is not idle")
		}
	})
}

// R143: prompts that wait for a turn that fails do not run; later ones do.
func TestTurnQueue_Failure(t *testing.T) {
	withQueue(t, func(q *queueTest) {
		first, second := q.prompt("first"), q.prompt("second")
		cause := errors.New("no model")
		q.finish <- cause
		if _, err := first.Wait(q.t.Context()); !errors.Is(err, cause) {
			q.t.Errorf("the first ended with %v", err)
		}
		third := q.prompt("third") // before the answer is delivered
		first.Release()
		var notRun *NotRunError
		if _, err := second.Wait(q.t.Context()); !errors.As(err, &notRun) || !errors.Is(err, cause) {
			q.t.Errorf("the second ended with %v", err)
		}
		q.wantRan("first", "third")
		q.finish <- nil
		q.ends(third, loop.EndTurn)
	})
}

func TestTurnQueue_Cancel(t *testing.T) {
	withQueue(t, func(q *queueTest) {
		q.cancelCurrent() // nothing runs
		first, second := q.prompt("first"), q.prompt("second")
		q.cancelCurrent()
		q.ends(first, loop.Cancelled)
		q.wantRan("first", "second")
		q.finish <- nil
		// The client has the answer, and its cancel is for the next prompt.
		third := q.prompt("third")
		synctest.Wait()
		q.cancelCurrent()
		q.ends(second, loop.EndTurn)
		q.ends(third, loop.Cancelled)
		if q.aborts != 3 {
			q.t.Errorf("what runs in the background was ended %d times, want 3", q.aborts)
		}
	})
}

func TestTurnQueue_Withdraw(t *testing.T) {
	withQueue(t, func(q *queueTest) {
		first, second := q.prompt("first"), q.prompt("second")
		ctx, cancel := context.WithCancel(q.t.Context())
		cancel()
		if stop, err := second.Wait(ctx); stop != loop.Cancelled || err != nil {
			q.t.Errorf("the queued prompt ended with %q, %v", stop, err)
		}
		if q.aborts != 0 {
			q.t.Error("a queued prompt ended what runs in the background")
		}
		if stop, err := first.Wait(ctx); stop != loop.Cancelled || err != nil {
			q.t.Errorf("the running prompt ended with %q, %v", stop, err)
		}
		first.Release()
		q.wantRan("first")
		if q.aborts != 1 {
			q.t.Errorf("what runs in the background was ended %d times, want once", q.aborts)
		}
	})
}

// R68: a report comes before the prompts that wait, and needs no release.
func TestTurnQueue_Synthetic(t *testing.T) {
	withQueue(t, func(q *queueTest) {
		first, second := q.prompt("first"), q.prompt("second")
		q.add(&Turn{synthetic: &synthetic{text: "report"}})
		q.add(&Turn{synthetic: &synthetic{text: "another report"}})
		q.finish <- nil
		q.ends(first, loop.EndTurn)
		q.wantRan("first", "report", "another report", "second")
		q.finish <- nil
		q.ends(second, loop.EndTurn)
	})
}

func TestTurnQueue_During(t *testing.T) {
	withQueue(t, func(q *queueTest) {
		answered := func() *Turn {
			return q.add(&Turn{
				prompt: &transcript.Message{Parts: []transcript.Part{&transcript.TextPart{Text: "command"}}},
				during: func(context.Context) (loop.StopReason, error) { return loop.EndTurn, nil },
			})
		}
		first := q.prompt("first")
		q.ends(answered(), loop.EndTurn)
		q.wantRan("first")
		q.finish <- nil
		synctest.Wait()
		waits := answered() // the turn has ended, and its answer is not delivered
		q.ends(first, loop.EndTurn)
		q.wantRan("first", "command")
		q.finish <- nil
		q.ends(waits, loop.EndTurn)
	})
}

func TestTurnQueue_Close(t *testing.T) {
	withQueue(t, func(q *queueTest) {
		first, second := q.prompt("first"), q.prompt("second")
		q.close()
		q.cancel(ErrClosed)
		for _, turn := range []*Turn{first, second, q.prompt("late")} {
			if stop, err := turn.Wait(q.t.Context()); stop != loop.Cancelled || err != nil {
				q.t.Errorf("%s ended with %q, %v", nameOfTurn(turn), stop, err)
			}
		}
		q.wait() // although no answer was delivered
		q.wantRan("first")
	})
}
