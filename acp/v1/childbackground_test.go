package v1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// A background subagent outlives the turn: its card stays open, its calls continue, and its end
// is sent once (R67, R68, R153).
func TestChild_Background(t *testing.T) {
	tests := []struct {
		state  transcript.ChildState
		status string
	}{
		{transcript.ChildDone, "completed"},
		{transcript.ChildFailed, "failed"},
		{transcript.ChildCancelled, "failed"},
		{transcript.ChildLost, "failed"},
	}
	for _, test := range tests {
		t.Run(string(test.state), func(t *testing.T) {
			inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
				blocking := delegate(tr.Emit, "call_0", false, "fix")
				child := delegate(tr.Emit, "call_9", true, "explore")
				r.take()
				accepted(tr.Emit, "call_9")
				endChild(tr.Emit, blocking, transcript.ChildDone)
				got := r.lines()
				if len(got) != 2 || !strings.Contains(got[0], "It runs in the background.") || !strings.Contains(got[0], `"session_id":"ses_x"`) || strings.Contains(got[0], `"status"`) {
					t.Fatalf("updates when it was accepted: %q", got)
				}
				emit := within(tr, "call_9")
				startBash(emit)
				emit(transcript.ToolOutput{CallID: "call_1", Text: "a\n"})
				emit(transcript.ToolOutput{CallID: "call_1", Text: "b\n"}) // waits for the timer
				r.take()
				tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
				time.Sleep(time.Second)
				emit(transcript.ToolOutput{CallID: "call_1", Text: "c\n"})
				endBash(emit, transcript.Done, "a\nb\nc\n", `{}`)
				tr.Emit(transcript.ToolCard{CallID: "call_9", Content: []kinds.Content{kinds.Text{Text: "live"}}})
				tr.Emit(transcript.ToolCard{CallID: "call_9", Content: []kinds.Content{kinds.Text{Text: "late"}}})
				endChild(tr.Emit, child, test.state)
				endChild(tr.Emit, child, transcript.ChildDone)
				accepted(tr.Emit, "call_9")
				tr.Emit(transcript.ToolCard{CallID: "call_9", Content: []kinds.Content{kinds.Text{Text: "later"}}})
				time.Sleep(time.Second)
				got = r.lines()
				if len(got) != 5 {
					t.Fatalf("updates after the turn: %q", got)
				}
				for i, want := range []string{`b\n`, `c\n`, `"status":"completed"`, `"text":"live"`, `"text":"it ` + string(test.state) + `"`} {
					if !strings.Contains(got[i], want) {
						t.Errorf("update %d lacks %s: %s", i, want, got[i])
					}
				}
				if !strings.Contains(got[4], `"toolCallId":"call_9","status":"`+test.status+`"`) {
					t.Errorf("the end: %s", got[4])
				}
				if n := len(tr.cards.calls) + len(tr.cards.children); n != 0 {
					t.Errorf("%d views are kept", n)
				}
			})
		})
	}
}

// The live card of a subagent is newer than the answer to its call, which was made when the
// subagent started.
func TestChild_BackgroundCardIsNewerThanTheAnswer(t *testing.T) {
	card := func(text string) []kinds.Content { return []kinds.Content{kinds.Text{Text: text}} }
	for _, waits := range []bool{false, true} {
		inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
			delegate(tr.Emit, "call_1", true, "explore")
			if waits { // it is not sent yet when the answer comes
				tr.Emit(transcript.ToolCard{CallID: "call_1", Content: card("it waits")})
			}
			tr.Emit(transcript.ToolCard{CallID: "call_1", Content: card("it runs")})
			tr.Emit(transcript.ToolFinished{
				CallID: "call_1", State: transcript.Done, Background: true, Text: "accepted", Card: kinds.Card{Content: card("it waits")},
			})
			time.Sleep(time.Second)
			got := r.lines()
			for len(got) > 0 && !strings.Contains(got[len(got)-1], `"text":"it`) {
				got = got[:len(got)-1]
			}
			if len(got) == 0 || !strings.Contains(got[len(got)-1], `"text":"it runs"`) {
				t.Errorf("waits %v: the last card is not the newest: %q", waits, got)
			}
		})
	}
}

// A subagent that ends before its call is answered is shown as ended, once.
func TestChild_BackgroundEndsFirst(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		child := delegate(tr.Emit, "call_1", true, "explore")
		r.take()
		endChild(tr.Emit, child, transcript.ChildDone)
		if got := r.lines(); got != nil {
			t.Errorf("before the call was answered: %q", got)
		}
		accepted(tr.Emit, "call_1")
		got := r.lines()
		if len(got) != 2 || strings.Contains(got[0], `"status"`) || !strings.Contains(got[1], `"status":"completed"`) || !strings.Contains(got[1], "it done") {
			t.Errorf("updates: %q", got)
		}
	})
}

// A background subagent of a background subagent ends its card even after its parent.
func TestChild_BackgroundOutlivesItsParent(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		explore := delegate(tr.Emit, "call_1", true, "explore")
		accepted(tr.Emit, "call_1")
		fix := delegate(within(tr, "call_1"), "call_2", true, "explore", "fix")
		accepted(within(tr, "call_1"), "call_2")
		tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
		endChild(tr.Emit, explore, transcript.ChildDone)
		r.take()
		endChild(within(tr, "call_1"), fix, transcript.ChildCancelled)
		got := r.lines()
		if len(got) != 1 || !strings.Contains(got[0], `"toolCallId":"call_2","status":"failed"`) || !strings.Contains(got[0], `"parentToolUseId":"call_1"`) {
			t.Errorf("updates: %q", got)
		}
	})
}

// A blocking subagent that fails leaves the reason and how far it came in the card.
func TestChild_Fails(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		child := delegate(tr.Emit, "call_1", false, "explore")
		r.take()
		endChild(tr.Emit, child, transcript.ChildCancelled)
		want := []string{`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"failed","content":[` +
			`{"type":"content","content":{"type":"text","text":"why"}},{"type":"content","content":{"type":"text","text":"it cancelled"}}],` +
			`"rawOutput":{"type":"error","error_text":"why","metadata":{"duration_ms":0}}}`}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}
