package v1

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// desk is an editor whose user answers when the test says so. It records each request, and each
// withdrawal, with the id of the call.
type desk struct {
	mu      sync.Mutex
	notes   []string
	answers map[string]chan string
}

func newDesk(calls ...string) *desk {
	d := &desk{answers: map[string]chan string{}}
	for _, call := range calls {
		d.answers[call] = make(chan string)
	}
	return d
}

func (d *desk) note(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, text)
}

func (d *desk) take() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.notes
	d.notes = nil
	return taken
}

func (d *desk) Call(ctx context.Context, _ string, params, result any) error {
	call := ""
	switch params := params.(type) {
	case *schema.RequestPermissionRequest:
		call = string(params.ToolCall.ToolCallID)
	case *schema.CreateElicitationRequest:
		call = string(params.ToolCallID)
	}
	d.note("ask " + call)
	rpc.Sent(ctx)
	select {
	case option := <-d.answers[call]:
		switch result := result.(type) {
		case *schema.RequestPermissionResponse:
			result.Outcome = schema.SelectedPermissionOutcome{OptionID: schema.PermissionOptionId(option)}
		case *schema.CreateElicitationResponse:
			result.Action = schema.ElicitationActionDecline
		}
		return nil
	case <-ctx.Done():
		d.note("withdraw " + call)
		return context.Cause(ctx)
	}
}

// withQueue runs a test with the background subagents "one" and "two", whose calls are call_1
// and call_2; call_0 is the main agent's. No prompt runs.
func withQueue(t *testing.T, drops bool, run func(t *testing.T, tr *translator, d *desk, ask func(call string) <-chan error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tr := newTranslator(&recorder{t: t, start: time.Now()}, client{traits: traits{dropsBetweenTurns: drops}})
		tr.out.session, tr.state.session = "ses_1", newFakeView()
		d := newDesk("call_0", "call_1", "call_2")
		beginTurn(tr)
		for i, name := range []string{"one", "two"} {
			spawn := "spawn_" + name
			delegate(tr.Emit, spawn, true, name)
			within(tr, spawn)(transcript.ToolStarted{CallID: "call_" + string(rune('1'+i)), Name: "Write", Tool: "write", Card: label("write")})
			accepted(tr.Emit, spawn)
		}
		endTurn(tr)
		ctx, cancel := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		run(t, tr, d, func(call string) <-chan error {
			done := make(chan error, 1)
			asking.Go(func() {
				request := tools.PermissionRequest{CallID: call, Ready: transcript.ToolReady{Card: kinds.Card{Title: "Write it"}}}
				_, err := (&asker{&link{conn: d, translator: tr, session: "ses_1"}}).Ask(ctx, request)
				done <- err
			})
			synctest.Wait()
			return done
		})
		cancel() // a cancel, a close and the exit release all of them at once
		asking.Wait()
		tr.stop()
	})
}

func beginTurn(tr *translator) {
	tr.promptReceived()
	tr.Emit(transcript.TurnStarted{TurnID: "trn_1", MessageID: "msg_1"})
	tr.Emit(transcript.UserSaid{Message: &transcript.Message{}})
}

func endTurn(tr *translator) {
	tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
	tr.promptAnswered()
}

func wantNotes(t *testing.T, d *desk, when string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, d.take()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// In a client that drops what arrives between turns, a background subagent asks only within
// turns, after a sentence in the chat. A turn asks again what the turn before left unanswered.
func TestQuestionQueue_WaitsForATurn(t *testing.T) {
	withQueue(t, true, func(t *testing.T, tr *translator, d *desk, ask func(string) <-chan error) {
		one := ask("call_1")
		wantNotes(t, d, "between turns")
		r := tr.out.conn.(*recorder)
		r.take()
		beginTurn(tr)
		wantNotes(t, d, "in the turn", "ask call_1")
		if said := r.take(); !slices.ContainsFunc(said, func(n noted) bool { return strings.Contains(n.text, "`one` asks for permission: `Write it`") }) {
			t.Errorf("the chat does not say who asks: %+v", said)
		}
		endTurn(tr)
		wantNotes(t, d, "at the end of the turn", "withdraw call_1")
		two := ask("call_2")
		beginTurn(tr)
		wantNotes(t, d, "in the next turn", "ask call_1")
		zero := ask("call_0")
		wantNotes(t, d, "while it is open")
		d.answers["call_1"] <- optionAllow
		wantNotes(t, d, "after the answer", "ask call_0") // before the other background subagent
		d.answers["call_0"] <- optionAllow
		wantNotes(t, d, "after both", "ask call_2")
		d.answers["call_2"] <- optionAllow
		for _, done := range []<-chan error{zero, one, two} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		endTurn(tr)
	})
}

// The chat also announces a question that waited in the queue while a turn ended.
func TestQuestionQueue_WaitsPastATurn(t *testing.T) {
	withQueue(t, true, func(t *testing.T, tr *translator, d *desk, ask func(string) <-chan error) {
		beginTurn(tr)
		zero := ask("call_0")
		ask("call_1")
		ask("call_2")
		wantNotes(t, d, "in the turn", "ask call_0")
		endTurn(tr)
		d.answers["call_0"] <- optionAllow
		if err := <-zero; err != nil {
			t.Error(err)
		}
		r := tr.out.conn.(*recorder)
		r.take()
		beginTurn(tr)
		wantNotes(t, d, "in the next turn", "ask call_1")
		if said := r.take(); !slices.ContainsFunc(said, func(n noted) bool { return strings.Contains(n.text, "`one` asks for permission") }) {
			t.Errorf("the chat does not say who asks: %+v", said)
		}
		endTurn(tr)
	})
}

// In other clients a background subagent asks at once, and again in the turn of the next
// prompt. Unanswered questions alternate.
func TestQuestionQueue_AskedAgain(t *testing.T) {
	withQueue(t, false, func(t *testing.T, tr *translator, d *desk, ask func(string) <-chan error) {
		ask("call_1")
		ask("call_2")
		wantNotes(t, d, "between turns", "ask call_1")
		beginTurn(tr)
		wantNotes(t, d, "in the turn", "withdraw call_1", "ask call_2")
		endTurn(tr)
		wantNotes(t, d, "after the turn")
		beginTurn(tr)
		wantNotes(t, d, "in the next turn", "withdraw call_2", "ask call_1")
		endTurn(tr)
	})
}

// Forms of the model and of MCP servers wait in the same queue as permission requests.
func TestQuestionQueue_Forms(t *testing.T) {
	withQueue(t, true, func(t *testing.T, tr *translator, d *desk, ask func(string) <-chan error) {
		l := &link{conn: d, translator: tr, session: "ses_1"}
		ctx, cancel := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() {
			_, err := (&questioner{link: l, forms: true}).Answers(ctx, "call_1", []tools.Question{{Question: "What?"}})
			if refused, ok := errors.AsType[*tools.Error](err); !ok || refused.Kind != tools.Denied {
				t.Errorf("answer: %v", err)
			}
		})
		synctest.Wait()
		asking.Go(func() {
			if _, err := (&elicitor{link: l}).Fill(ctx, mcp.Form{CallID: "call_2"}); !errors.Is(err, context.Canceled) {
				t.Errorf("answer: %v", err)
			}
		})
		wantNotes(t, d, "between turns")
		beginTurn(tr)
		wantNotes(t, d, "in the turn", "ask call_1")
		endTurn(tr)
		wantNotes(t, d, "at the end of the turn", "withdraw call_1")
		beginTurn(tr)
		wantNotes(t, d, "in the next turn", "ask call_2")
		endTurn(tr)
		wantNotes(t, d, "at its end", "withdraw call_2")
		beginTurn(tr)
		wantNotes(t, d, "in the third", "ask call_1")
		d.answers["call_1"] <- ""
		wantNotes(t, d, "after the answer", "ask call_2")
		cancel()
		asking.Wait()
		wantNotes(t, d, "after a cancel", "withdraw call_2")
		endTurn(tr)
	})
}

// A question of the running turn does not wait for ever for one that the user leaves unanswered.
func TestQuestionQueue_PassesBy(t *testing.T) {
	withQueue(t, true, func(t *testing.T, tr *translator, d *desk, ask func(string) <-chan error) {
		beginTurn(tr)
		ask("call_1")
		time.Sleep(unansweredAfter / 3)
		ask("call_0")
		time.Sleep(unansweredAfter/2 - time.Second)
		wantNotes(t, d, "before its time", "ask call_1")
		time.Sleep(unansweredAfter / 2)
		wantNotes(t, d, "when its time is over", "withdraw call_1", "ask call_0")
		d.answers["call_0"] <- optionAllow
		wantNotes(t, d, "after the answer", "ask call_1")
		endTurn(tr)
		wantNotes(t, d, "at the end", "withdraw call_1")
	})
}

// No question is open after the end of a turn, even if it is asked at that very moment.
func TestQuestionQueue_EndOfTurnRaces(t *testing.T) {
	tr := newTranslator(&recorder{t: t, start: time.Now()}, client{traits: traits{dropsBetweenTurns: true}})
	tr.out.session, tr.state.session = "ses_1", newFakeView()
	beginTurn(tr)
	delegate(tr.Emit, "spawn", true, "one")
	within(tr, "spawn")(transcript.ToolStarted{CallID: "call_1", Name: "Write", Tool: "write", Card: label("write")})
	accepted(tr.Emit, "spawn")
	endTurn(tr)
	d := newDesk("call_1")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := (&asker{&link{conn: d, translator: tr, session: "ses_1"}}).Ask(ctx, tools.PermissionRequest{CallID: "call_1"})
		done <- err
	}()
	for range 500 {
		beginTurn(tr)
		endTurn(tr)
		d.mu.Lock()
		if n := len(d.notes); n%2 != 0 || n > 0 && !strings.HasPrefix(d.notes[n-1], "withdraw") {
			t.Errorf("a question is open after the turn: %q", d.notes)
		}
		d.mu.Unlock()
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("released with %v", err)
	}
	tr.stop()
}
