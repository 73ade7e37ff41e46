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

// Prompts go into the running turn in their order, up to the first that runs as a turn of its
// own; messages of the agent itself stay where they are.
func TestPopSteered(t *testing.T) {
	running, proceed := make(chan struct{}), make(chan struct{})
	q := newTurnQueue(t.Context(), func(*Turn) (loop.StopReason, error) {
		running <- struct{}{}
		<-proceed
		return loop.EndTurn, nil
	}, func() {})
	prompt := func(steers bool) *Turn { return q.add(&Turn{prompt: &transcript.Message{}, steers: steers}) }
	first := prompt(true)
	<-running
	one := prompt(true)
	report := q.add(&Turn{synthetic: &synthetic{}})
	two, command, late := prompt(true), prompt(false), prompt(true)
	if got := q.popSteered(true); !slices.Equal(got, []*Turn{one, two}) {
		t.Fatalf("%d prompts went in, want the first two", len(got))
	}
	proceed <- struct{}{}
	for _, turn := range []*Turn{first, one, two} {
		if stop, err := turn.Wait(t.Context()); stop != loop.EndTurn || err != nil {
			t.Errorf("it ended with %q, %v", stop, err)
		}
	}
	first.Release()
	if command.ended() || len(q.popSteered(true)) != 0 {
		t.Error("what came after a command overtook it")
	}
	one.Release()
	two.Release()
	for _, turn := range []*Turn{report, command, late} {
		<-running
		proceed <- struct{}{}
		if _, err := turn.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		turn.Release()
	}
	q.close()
	q.wait()
}

// A prompt that went in ends with its turn, also when that fails or is cancelled.
func TestPopSteered_Cancelled(t *testing.T) {
	running := make(chan struct{})
	q := newTurnQueue(t.Context(), func(turn *Turn) (loop.StopReason, error) {
		running <- struct{}{}
		<-turn.ctx.Done()
		return loop.Cancelled, nil
	}, func() {})
	first := q.add(&Turn{prompt: &transcript.Message{}})
	<-running
	steered := q.add(&Turn{prompt: &transcript.Message{}, steers: true})
	q.popSteered(true)
	waiting := q.add(&Turn{prompt: &transcript.Message{}, steers: true})
	withdrawn, cancel := context.WithCancel(t.Context())
	cancel()
	if stop, _ := waiting.Wait(withdrawn); stop != loop.Cancelled {
		t.Errorf("the one that was withdrawn ended with %q", stop)
	}
	if steered.ended() {
		t.Error("its withdrawal ended another one")
	}
	q.cancelCurrent()
	for _, turn := range []*Turn{first, steered} {
		if stop, err := turn.Wait(t.Context()); stop != loop.Cancelled || err != nil {
			t.Errorf("it ended with %q, %v", stop, err)
		}
		turn.Release()
	}
	q.close()
	q.wait()
}

// A prompt is shown as queued while the turn of another prompt runs, with how many are before
// it; what the agent itself adds does not count, and nothing is said of one that starts at once.
func TestTurnQueue_Ahead(t *testing.T) {
	withQueue(t, func(q *queueTest) {
		want := func(turn *Turn, before int, waits bool) {
			t.Helper()
			if b, w := q.ahead(turn); b != before || w != waits {
				t.Errorf("%s: %d before it, waits: %v; want %d, %v", nameOfTurn(turn), b, w, before, waits)
			}
		}
		first := q.prompt("first")
		want(first, 0, false)
		second := q.prompt("second")
		q.add(&Turn{synthetic: &synthetic{text: "report"}})
		third := q.prompt("third")
		want(second, 0, true)
		want(third, 1, true)
		q.finish <- nil
		synctest.Wait()
		want(second, 0, false) // the first has ended, though its answer is not delivered
		want(third, 0, true)   // after the second, which runs next
		q.ends(first, loop.EndTurn)
		q.finish <- nil
		q.ends(second, loop.EndTurn)
		q.finish <- nil
		q.ends(third, loop.EndTurn)
	})
}

// An injected message goes before the prompts that wait; a turn takes none any more once the model
// has answered all; one that was not read when the turn failed is not sent.
func TestInject(t *testing.T) {
	t.Parallel()
	running, failure := make(chan struct{}), make(chan error)
	q := newTurnQueue(t.Context(), func(*Turn) (loop.StopReason, error) {
		running <- struct{}{}
		return loop.EndTurn, <-failure
	}, func() {})
	turn := func(steers bool) *Turn { return &Turn{prompt: &transcript.Message{}, steers: steers} }
	if q.inject(turn(true)) {
		t.Error("it went in where no turn runs")
	}
	first := q.add(turn(true))
	<-running
	waiting, read, second := q.add(turn(true)), turn(true), turn(true)
	if !q.inject(read) || !q.inject(second) {
		t.Fatal("it did not go in")
	}
	if got := q.popInjected(); !slices.Equal(got, []*Turn{read, second}) {
		t.Errorf("%d messages went in, want two", len(got))
	}
	unread := turn(true)
	if !q.inject(unread) {
		t.Error("the turn that goes on takes no more")
	}
	failure <- errors.New("no model")
	for _, taken := range []*Turn{first, read, second} {
		if _, err := taken.Wait(t.Context()); err == nil {
			t.Error("it did not end with the turn")
		}
		taken.Release()
	}
	for _, left := range []*Turn{unread, waiting} {
		_, err := left.Wait(t.Context())
		if _, notRun := errors.AsType[*NotRunError](err); !notRun || q.answersFor(left) {
			t.Errorf("what was not read ended with %v", err)
		}
		left.Release()
	}
	last := q.add(turn(true))
	<-running
	if len(q.popInjected()) != 0 || q.inject(turn(true)) {
		t.Error("it went into a turn that is answered")
	}
	failure <- nil
	_, _ = last.Wait(t.Context())
	last.Release()
	stopped := q.add(turn(true))
	<-running
	q.cancelCurrent()
	if q.inject(turn(true)) {
		t.Error("it went into a turn that the user stopped")
	}
	failure <- nil
	_, _ = stopped.Wait(t.Context())
	stopped.Release()
	command := q.add(turn(false))
	<-running
	if q.inject(turn(true)) {
		t.Error("it went into a command")
	}
	failure <- nil
	_, _ = command.Wait(t.Context())
	command.Release()
	q.close()
	q.wait()
}

// The announcement of a later prompt waits for the one before it. One that is not made, because the session
// closes, must not keep Close waiting for ever.
func TestAnnounceQueued_Closed(t *testing.T) {
	running, proceed := make(chan struct{}), make(chan struct{})
	s := &Session{opened: opened{host: &Host{}, life: newLifetime(t.Context(), nil)}}
	s.turns = newTurnQueue(s.life.ctx, func(*Turn) (loop.StopReason, error) {
		close(running)
		<-proceed
		return loop.Cancelled, nil
	}, func() {})
	s.turns.add(&Turn{prompt: &transcript.Message{}})
	<-running
	queued := s.turns.add(&Turn{prompt: &transcript.Message{}})
	s.life.end(ErrClosed)
	s.announceQueued(queued)
	select {
	case <-s.turns.announced:
	default:
		t.Error("a later prompt would wait for an announcement that no one makes")
	}
	close(proceed)
	s.turns.close()
	s.turns.wait()
}
