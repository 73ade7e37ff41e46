package transcript_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/transcript"
)

var restarted = time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)

// checkRestarted asserts that nothing is left open but what waits for the user, and
// nothing at all in the conversation of a subagent.
func checkRestarted(t interface {
	Helper()
	Errorf(string, ...any)
}, messages []*transcript.Message, below bool,
) {
	t.Helper()
	for _, m := range messages {
		waiting := false
		for _, call := range m.Calls() {
			waits := call.State == transcript.BlockedOnUser || call.Tool == "question"
			waiting = waiting || !call.State.Terminal()
			if !call.State.Terminal() && (below || !waits) {
				t.Errorf("call %q is left %s", call.CallID, call.State)
			}
			if call.Child == nil {
				continue
			}
			record := call.Child.Record()
			if !record.State.Terminal() || !call.State.Terminal() && record.State == transcript.ChildLost && record.Ended.Equal(restarted) {
				t.Errorf("subagent %q is %s below a call that is %s", record.ID, record.State, call.State)
			}
			checkRestarted(t, record.Messages, true)
		}
		if !m.Finished && !waiting {
			t.Errorf("message %q is not finished, and nothing will add to it", m.ID)
		}
	}
}

// TestAfterRestart_Anything holds what R141 asks for on whatever a process left behind.
func TestAfterRestart_Anything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := transcript.Snapshot{Messages: list(messages()).Draw(t, "messages")}
		as := roundTrip(t, before)
		after, lost := transcript.AfterRestart(before, restarted)
		if diff := cmp.Diff(as, before, records); diff != "" {
			t.Errorf("what it was given (-before +after):\n%s", diff)
		}
		checkRestarted(t, after.Messages, false)
		for i, m := range before.Messages {
			for j, call := range m.Calls() {
				now := after.Messages[i].Calls()[j]
				switch running := call.Child != nil && !call.Child.Record().State.Terminal(); {
				case running && call.State.Terminal() != slices.Contains(lost, now.Child):
					t.Errorf("the subagent of call %q, which is %s, is told of: %v", call.CallID, call.State, !call.State.Terminal())
				case running:
				case call.State.Terminal() && (now.State != call.State || now.Text != call.Text):
					t.Errorf("call %q had ended as %s, and is %s", call.CallID, call.State, now.State)
				case call.State == transcript.BlockedOnUser && now.State != call.State:
					t.Errorf("call %q waits for the user, and is %s", call.CallID, now.State)
				}
			}
		}
		twice, again := transcript.AfterRestart(after, restarted.Add(time.Hour))
		if diff := cmp.Diff(after, twice, records); diff != "" || len(again) > 0 {
			t.Errorf("a second time loses %d subagents and changes (-once +twice):\n%s", len(again), diff)
		}
	})
}

func TestAfterRestart(t *testing.T) {
	log := transcript.NewLog
	running := func(messages ...*transcript.Message) *transcript.Child {
		return transcript.NewChild(transcript.ChildRecord{ID: "s", State: transcript.ChildRunning}, log(messages...))
	}
	tests := []struct {
		name  string
		call  transcript.ToolPart
		state transcript.State
		text  string // of the result
		told  bool   // the agent is to be told of its subagent
	}{
		{"running", transcript.ToolPart{State: transcript.InProgress}, transcript.Failed, "not known what it had done", false},
		{"queued", transcript.ToolPart{State: transcript.Queued}, transcript.Failed, "it was not run", false},
		{"approval", transcript.ToolPart{State: transcript.BlockedOnUser}, transcript.BlockedOnUser, "", false},
		{"question", transcript.ToolPart{Tool: "question", State: transcript.InProgress}, transcript.InProgress, "", false},
		{"ended", transcript.ToolPart{State: transcript.Done, Text: "result"}, transcript.Done, "result", false},
		{"waits for a subagent", transcript.ToolPart{State: transcript.InProgress, Child: running()}, transcript.Failed, "aborted by host restart", false},
		{"waits for a subagent that asks", transcript.ToolPart{State: transcript.BlockedOnUser, Child: running()}, transcript.Failed, "aborted", false},
		{"has one in the background", transcript.ToolPart{State: transcript.Done, Text: "accepted", Child: running()}, transcript.Done, "accepted", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &transcript.Message{ID: "m", Role: transcript.Assistant, Parts: []transcript.Part{&transcript.TextPart{Text: "so"}, &tt.call}}
			after, lost := transcript.AfterRestart(transcript.Snapshot{Messages: []*transcript.Message{m}}, restarted)
			got := after.Messages[0]
			call := got.Calls()[0]
			if call.State != tt.state || !strings.Contains(call.Text, tt.text) || got.Text() != "so" || got.Finished != tt.state.Terminal() {
				t.Errorf("%+v, its message finished: %v", call, got.Finished)
			}
			if tt.state == transcript.Failed {
				if r := call.Result; r == nil || r.Type != transcript.Error || r.ErrorText != call.Text || r.Error == nil {
					t.Errorf("envelope %+v", r)
				}
			}
			if told := len(lost) == 1 && lost[0] == call.Child; told != tt.told || !told && len(lost) > 0 {
				t.Errorf("subagents to be told of: %v", lost)
			}
			if call.Child == nil {
				return
			}
			if r := call.Child.Record(); r.State != transcript.ChildLost || r.Note != transcript.RestartText || !r.Ended.Equal(restarted) {
				t.Errorf("subagent %+v", r)
			}
		})
	}
	t.Run("below a subagent no one waits for the user", func(t *testing.T) {
		asks := &transcript.Message{ID: "b", Role: transcript.Assistant, Parts: []transcript.Part{
			&transcript.ToolPart{CallID: "q", Tool: "question", State: transcript.BlockedOnUser},
			&transcript.ToolPart{CallID: "t", State: transcript.Done, Child: running()},
		}}
		call := &transcript.ToolPart{State: transcript.InProgress, Child: running(asks)}
		m := &transcript.Message{ID: "a", Role: transcript.Assistant, Parts: []transcript.Part{call}}
		after, lost := transcript.AfterRestart(transcript.Snapshot{Messages: []*transcript.Message{m}}, restarted)
		child := after.Messages[0].Calls()[0].Child
		below := child.Messages()[0].Calls()
		if below[0].State != transcript.Failed || below[1].Child.Record().State != transcript.ChildLost || len(lost) > 0 {
			t.Errorf("below: %+v, %+v, told of: %v", below[0], below[1].Child.Record(), lost)
		}
		if asks.Calls()[0].State != transcript.BlockedOnUser || call.Child.Record().State != transcript.ChildRunning {
			t.Error("what it was given was changed")
		}
	})
}

// TestLog_FinishesTheMessageOfTheCall also when the agent said something after it.
func TestLog_FinishesTheMessageOfTheCall(t *testing.T) {
	log := transcript.NewLog()
	for _, e := range []transcript.Event{
		transcript.StepStarted{MessageID: "a"},
		transcript.ToolStarted{MessageID: "a", CallID: "c"},
		transcript.StepFinished{MessageID: "a"},
		transcript.AgentSaid{Message: &transcript.Message{ID: "n", Role: transcript.Assistant, Synthetic: true}},
		transcript.ToolFinished{CallID: "c", State: transcript.Done},
	} {
		log.Apply(e)
	}
	for _, m := range log.Messages() {
		if !m.Finished {
			t.Errorf("message %q is not finished", m.ID)
		}
	}
}
