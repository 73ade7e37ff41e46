package session

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// Prompts go into the running turn in their order, up to the first that runs as a turn of its
// own; messages of the agent itself stay where they are.
func TestTakeSteered(t *testing.T) {
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
	if got := q.takeSteered(); !slices.Equal(got, []*Turn{one, two}) {
		t.Fatalf("%d prompts went in, want the first two", len(got))
	}
	proceed <- struct{}{}
	for _, turn := range []*Turn{first, one, two} {
		if stop, err := turn.Wait(t.Context()); stop != loop.EndTurn || err != nil {
			t.Errorf("it ended with %q, %v", stop, err)
		}
	}
	first.Release()
	if command.ended() || len(q.takeSteered()) != 0 {
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
func TestTakeSteered_Cancelled(t *testing.T) {
	running := make(chan struct{})
	q := newTurnQueue(t.Context(), func(turn *Turn) (loop.StopReason, error) {
		running <- struct{}{}
		<-turn.ctx.Done()
		return loop.Cancelled, nil
	}, func() {})
	first := q.add(&Turn{prompt: &transcript.Message{}})
	<-running
	steered := q.add(&Turn{prompt: &transcript.Message{}, steers: true})
	q.takeSteered()
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
