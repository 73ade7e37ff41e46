package transcript_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/transcript"
)

func TestLog_FoldsAStep(t *testing.T) {
	log := transcript.NewLog()
	for _, e := range []transcript.Event{
		transcript.UserSaid{Message: &transcript.Message{ID: "u", Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: "hi"}}}},
		transcript.StepStarted{MessageID: "a", Model: "m"},
		transcript.PartStarted{MessageID: "a", PartID: "p1", Kind: transcript.ReasoningKind},
		transcript.PartDelta{PartID: "p1", Text: "hm"},
		transcript.PartReplay{PartID: "p1", Data: json.RawMessage(`{"signature":"x"}`)},
		transcript.PartEnded{PartID: "p1"},
		transcript.PartStarted{MessageID: "a", PartID: "p2", Kind: transcript.TextKind},
		transcript.PartDelta{PartID: "p2", Text: "I "},
		transcript.PartDelta{PartID: "p2", Text: "will"},
		transcript.PartEnded{PartID: "p2"},
		transcript.ToolStarted{MessageID: "a", CallID: "c", Name: "Read", Tool: "read"},
		transcript.ToolInput{CallID: "c", Delta: `{"path":`},
		transcript.ToolReplay{CallID: "c", Data: json.RawMessage(`"y"`)},
		transcript.StepFinished{MessageID: "a", Usage: &transcript.Usage{Input: 3, Output: 4}, Origin: "o"},
	} {
		log.Apply(e)
	}
	if m := log.Messages()[1]; m.Finished {
		t.Error("the message is finished although a call is open")
	}
	log.Apply(transcript.ToolReady{CallID: "c", Tool: "read", Input: `{"path":"x"}`, Args: []byte(`{"path":"x"}`)})
	log.Apply(transcript.ToolFinished{CallID: "c", State: transcript.Done, Text: "content", Result: transcript.Envelope{Type: transcript.Output}})
	log.Apply(transcript.ToolFinished{CallID: "c", State: transcript.Failed, Text: "again"})

	m := log.Messages()[1]
	want := []transcript.Part{
		&transcript.ReasoningPart{ID: "p1", Text: "hm", Replay: json.RawMessage(`{"signature":"x"}`)},
		&transcript.TextPart{ID: "p2", Text: "I will"},
		&transcript.ToolPart{
			CallID: "c", Name: "Read", Tool: "read", Input: `{"path":"x"}`, Complete: true, State: transcript.Done, Text: "content",
			Result: &transcript.Envelope{Type: transcript.Output}, Replay: json.RawMessage(`"y"`),
		},
	}
	if diff := cmp.Diff(want, m.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if !m.Finished || m.Text() != "I will" || m.Usage.Total() != 7 || m.Origin != "o" {
		t.Errorf("message %+v", m)
	}
}

func TestLog_AnyPrefixIsTruthful(t *testing.T) {
	log := transcript.NewLog()
	log.Apply(transcript.StepStarted{MessageID: "a"})
	log.Apply(transcript.PartStarted{MessageID: "a", PartID: "p"})
	log.Apply(transcript.PartDelta{PartID: "p", Text: "so far"})
	if got := log.Messages()[0].Text(); got != "so far" {
		t.Errorf("the text in mid-stream is %q", got)
	}
}

func TestLog_Withdraw(t *testing.T) {
	log := transcript.NewLog()
	for _, id := range []string{"1", "2"} {
		log.Apply(transcript.UserSaid{Message: &transcript.Message{ID: "u" + id}})
		log.Apply(transcript.StepStarted{MessageID: "a" + id})
	}
	log.Apply(transcript.TurnWithdrawn{MessageID: "u2"})
	log.Apply(transcript.StepStarted{MessageID: "a3"})
	log.Apply(transcript.StepDropped{MessageID: "a3"})
	var ids []string
	for _, m := range log.Messages() {
		ids = append(ids, m.ID)
	}
	if diff := cmp.Diff([]string{"u1", "a1"}, ids); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestLog_UnknownIdsChangeNothing(t *testing.T) {
	log := transcript.NewLog()
	for _, e := range []transcript.Event{
		transcript.PartDelta{PartID: "x"},
		transcript.PartReplay{PartID: "x"},
		transcript.PartEnded{PartID: "x"},
		transcript.ToolReplay{CallID: "x"},
		transcript.ToolInput{CallID: "x"},
		transcript.ToolReady{CallID: "x"},
		transcript.ToolState{CallID: "x"},
		transcript.ToolOutput{CallID: "x", Text: "x"},
		transcript.ToolFinished{CallID: "x"},
		transcript.StepFinished{MessageID: "x"},
		transcript.StepDropped{MessageID: "x"},
		transcript.PartStarted{MessageID: "x"},
		transcript.ToolStarted{MessageID: "x"},
		transcript.TurnWithdrawn{MessageID: "x"},
	} {
		log.Apply(e)
	}
	if n := len(log.Messages()); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestIDs_SortInOrder(t *testing.T) {
	var ids transcript.IDs
	var mu sync.Mutex
	var group sync.WaitGroup
	seen := map[string]bool{}
	for range 8 {
		group.Go(func() {
			last := ""
			for range 1000 {
				id := ids.New(transcript.MessagePrefix)
				if id <= last {
					t.Errorf("%s came after %s", id, last)
				}
				last = id
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(seen) != 8000 {
		t.Errorf("%d different ids of 8000", len(seen))
	}
	form := regexp.MustCompile(`^msg_[0-9a-f]{12}[0-9a-z]{14}$`)
	for id := range seen {
		if !form.MatchString(id) || len(id) != 30 {
			t.Fatalf("id %q", id)
		}
	}
}

func TestIDs_DoNotWrapForALongTime(t *testing.T) {
	var ids transcript.IDs
	first := ids.New("x_")
	stamp := strings.TrimPrefix(first, "x_")[:12]
	// The stamp of the year 2100 must still fit and sort after today's.
	future := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() * 64
	if future >= 1<<48 {
		t.Errorf("the stamp of 2100 needs more than 48 bits")
	}
	if !slices.IsSorted([]string{"000000000000", stamp}) {
		t.Errorf("stamp %q", stamp)
	}
}

// What was cleared is not part of the conversation, and stays in the record.
func TestLog_Cleared(t *testing.T) {
	said := func(id string) transcript.Event {
		return transcript.UserSaid{Message: &transcript.Message{ID: id, Role: transcript.User}}
	}
	ids := func(list []*transcript.Message) string {
		var all []string
		for _, m := range list {
			all = append(all, m.ID)
		}
		return strings.Join(all, " ")
	}
	log := transcript.NewLog()
	for _, e := range []transcript.Event{
		said("a"), said("b"), transcript.Cleared{MessageID: "c"}, said("d"), transcript.TurnWithdrawn{MessageID: "a"}, transcript.StepDropped{MessageID: "b"},
	} {
		log.Apply(e)
	}
	if got := ids(log.Messages()); got != "d" {
		t.Errorf("the conversation is %q", got)
	}
	if got := ids(log.Record()); got != "a b c d" {
		t.Errorf("the record is %q", got)
	}
	again := transcript.NewLog(stored(t, log.Record())...)
	if got := ids(again.Messages()) + "; " + ids(again.Record()); got != "d; a b c d" {
		t.Errorf("stored and loaded, it is %q", got)
	}
}

// TestLog_PrintedByWhatDidNotEndWell holds that the end of what a cancelled command printed is
// kept, and nothing of what a finished one printed, whose result has it.
func TestLog_PrintedByWhatDidNotEndWell(t *testing.T) {
	long := strings.Repeat("é", 100<<10)
	tests := []struct {
		state   transcript.State
		printed []string
		want    string
	}{
		{transcript.Done, []string{"a"}, ""},
		{transcript.Cancelled, []string{"a\n", "b\n"}, "a\nb\n"},
		{transcript.Failed, []string{"a\n"}, "a\n"},
		{transcript.Cancelled, nil, ""},
		{transcript.Cancelled, []string{long, "end"}, "…" + strings.Repeat("é", 32<<10-2) + "end"},
		{transcript.Cancelled, []string{"start", long[:90<<10]}, "…" + strings.Repeat("é", 32<<10)},
	}
	for _, tt := range tests {
		log := transcript.NewLog()
		log.Apply(transcript.StepStarted{MessageID: "m"})
		log.Apply(transcript.ToolStarted{MessageID: "m", CallID: "c"})
		for _, text := range tt.printed {
			log.Apply(transcript.ToolOutput{CallID: "c", Text: text})
		}
		log.Apply(transcript.ToolFinished{CallID: "c", State: tt.state})
		if got := log.Messages()[0].Calls()[0].Printed; got != tt.want {
			t.Errorf("%s of %d pieces: %d bytes, want %d", tt.state, len(tt.printed), len(got), len(tt.want))
		}
	}
}
