package v1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

var dropping = client{traits: traits{dropsBetweenTurns: true}}

// edit emits a whole call of edit.
func edit(emit func(transcript.Event), id string) {
	emit(transcript.ToolStarted{MessageID: "msg_2", CallID: id, Name: "Edit", Tool: "edit", Card: label("edit")})
	emit(transcript.ToolReady{CallID: id, Tool: "edit", Args: []byte(`{"path":"/w/a.go"}`), Card: kinds.Card{Kind: kinds.Edit, Title: "Edit a.go"}})
	emit(transcript.ToolState{CallID: id, State: transcript.InProgress})
	emit(transcript.ToolFinished{CallID: id, State: transcript.Done, Card: kinds.Card{
		Kind: kinds.Edit, Title: "Edit a.go", Content: []kinds.Content{kinds.Diff{Path: "/w/a.go", New: "b"}},
	}, Result: transcript.Envelope{Type: transcript.Output}})
}

// In an editor that drops what arrives between turns and cannot change a card of an earlier
// turn, no card of a background subagent stays open, and updates between turns are sent once, in
// the next turn before anything else (R68).
func TestDeferred(t *testing.T) {
	inTurn(t, dropping, func(t *testing.T, tr *translator, r *recorder) {
		child := delegate(tr.Emit, "call_1", true, "explore")
		r.take()
		accepted(tr.Emit, "call_1")
		if got := r.lines(); len(got) != 1 || !strings.Contains(got[0], `"status":"completed"`) || !strings.Contains(got[0], continuesText) {
			t.Errorf("the answer to its call: %q", got)
		}
		emit := within(tr, "call_1")
		emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_2", Name: "Read", Tool: "read", Card: label("read")})
		edit(emit, "call_3")
		if got := r.lines(); len(got) != 2 || !strings.Contains(got[0], `"title":"explore › Edit a.go"`) || !strings.Contains(got[1], `"type":"diff"`) {
			t.Errorf("a call that has ended in the turn: %q", got)
		}
		tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
		tr.promptAnswered()
		r.take()
		edit(emit, "call_4")
		emit(transcript.ToolFinished{CallID: "call_2", State: transcript.Failed, Text: "gone", Result: transcript.Envelope{Type: transcript.Error, ErrorText: "gone"}})
		tr.Emit(transcript.ToolCard{CallID: "call_1", Content: []kinds.Content{kinds.Text{Text: "live"}}})
		endChild(tr.Emit, child, transcript.ChildDone)
		tr.say("it has finished")
		time.Sleep(time.Minute)
		if got := r.lines(); got != nil {
			t.Errorf("between turns: %q", got)
		}
		tr.promptReceived()
		tr.Emit(transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_3"})
		got := r.lines()
		want := []string{`"tool_call","toolCallId":"call_4"`, `"toolCallId":"call_4","status":"completed"`, `"tool_call","toolCallId":"call_2"`, `"toolCallId":"call_2","status":"failed"`, "it has finished"}
		if len(got) != len(want) {
			t.Fatalf("in the next turn: %q", got)
		}
		for i, part := range want {
			if !strings.Contains(got[i], part) {
				t.Errorf("update %d lacks %s: %s", i, part, got[i])
			}
		}
		tr.Emit(transcript.ModeChanged{})
		for _, line := range r.lines() {
			if strings.Contains(line, "call_") || strings.Contains(line, "has finished") {
				t.Errorf("sent again: %s", line)
			}
		}
		if n := len(tr.cards.calls) + len(tr.cards.children); n != 0 {
			t.Errorf("%d views are kept", n)
		}
	})
}

// A call that was shown because the user was asked about it, and ends in a later turn, is shown
// there as a whole. Of too many calls between turns the earliest are left out.
func TestDeferred_Bounds(t *testing.T) {
	inTurn(t, dropping, func(t *testing.T, tr *translator, r *recorder) {
		delegate(tr.Emit, "call_1", true, "explore")
		accepted(tr.Emit, "call_1")
		emit := within(tr, "call_1")
		emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_2", Name: "Edit", Tool: "edit", Card: label("edit")})
		emit(transcript.ToolReady{CallID: "call_2", Tool: "edit", Args: []byte(`{}`), Card: kinds.Card{Kind: kinds.Edit, Title: "Edit a.go"}})
		tr.showForQuestion("call_2")
		tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
		tr.promptAnswered()
		r.take()
		emit(transcript.ToolFinished{CallID: "call_2", State: transcript.Done, Card: kinds.Card{Kind: kinds.Edit, Title: "Edit a.go"}})
		for i := range maxDeferred {
			edit(emit, fmt.Sprintf("call_x%d", i))
		}
		tr.promptReceived()
		tr.Emit(transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_3"})
		got := r.lines()
		if len(got) > maxDeferred || !strings.Contains(got[0], `"toolCallId":"call_2","kind":"edit","status":"completed","title":"explore › Edit a.go"`) {
			t.Errorf("%d updates, first %s", len(got), got[0])
		}
		if last := got[len(got)-1]; !strings.Contains(last, fmt.Sprintf("call_x%d", maxDeferred-1)) {
			t.Errorf("the last is %s", last)
		}
	})
}

// A call of a subagent that ends after the last event of a turn, and before the answer to the
// prompt, changes the card of that turn.
func TestDeferred_BeforeTheAnswer(t *testing.T) {
	inTurn(t, dropping, func(t *testing.T, tr *translator, r *recorder) {
		delegate(tr.Emit, "call_1", true, "explore")
		accepted(tr.Emit, "call_1")
		emit := within(tr, "call_1")
		emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_2", Name: "Edit", Tool: "edit", Card: label("edit")})
		card := kinds.Card{Kind: kinds.Edit, Title: "Edit a.go"}
		emit(transcript.ToolReady{CallID: "call_2", Tool: "edit", Args: []byte(`{}`), Card: card})
		tr.showForQuestion("call_2")
		tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
		r.take()
		emit(transcript.ToolFinished{CallID: "call_2", State: transcript.Done, Card: card})
		if got := r.lines(); len(got) != 1 || !strings.Contains(got[0], `"toolCallId":"call_2","status":"completed"`) || strings.Contains(got[0], "title") {
			t.Errorf("before the answer to the prompt: %q", got)
		}
		tr.promptAnswered()
	})
}

// The output of a call that continues after its turn waits for the next prompt as one update.
func TestDeferred_Output(t *testing.T) {
	inTurn(t, dropping, func(t *testing.T, tr *translator, r *recorder) {
		delegate(tr.Emit, "call_1", true, "explore")
		accepted(tr.Emit, "call_1")
		emit := within(tr, "call_1")
		emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_2", Name: "Bash", Tool: "bash", Card: label("bash")})
		card := kinds.Card{Kind: kinds.Execute, Title: "make"}
		emit(transcript.ToolReady{CallID: "call_2", Tool: "bash", Args: []byte(`{"cmd":"make"}`), Card: card})
		tr.showForQuestion("call_2")
		tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
		tr.promptAnswered()
		r.take()
		emit(transcript.ToolState{CallID: "call_2", State: transcript.InProgress})
		for i := range 10 * maxDeferred {
			emit(transcript.ToolOutput{CallID: "call_2", Text: fmt.Sprintf("line %d\n", i)})
			time.Sleep(outputInterval)
		}
		tr.mu.Lock()
		if n := len(tr.out.deferred); n != 1 {
			t.Errorf("%d updates wait", n)
		}
		tr.mu.Unlock()
		emit(transcript.ToolFinished{CallID: "call_2", State: transcript.Done, Card: card, Text: "end", Result: transcript.Envelope{Type: transcript.Output}})
		tr.promptReceived()
		tr.Emit(transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_3"})
		got := r.lines()
		if len(got) != 1 || !strings.Contains(got[0], `"status":"completed"`) || !strings.Contains(got[0], "end") || !strings.Contains(got[0], `"title":"explore › make"`) {
			t.Errorf("in the next turn %d updates, the last %s", len(got), got[len(got)-1])
		}
	})
}
