package transcript_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/transcript"
)

// said makes a message one that a turn could have left: its ids are unique, an answer of a model
// has nothing but texts and calls, and only those of the last one may be open.
func said(m *transcript.Message, id string, last bool) {
	m.ID, m.Finished = id, true
	if m.Role == transcript.User {
		m.Synthetic = false
		return
	}
	var parts []transcript.Part
	for i, part := range m.Parts {
		of := fmt.Sprintf("%s_%d", id, i)
		switch part := part.(type) {
		case *transcript.TextPart:
			parts = append(parts, &transcript.TextPart{ID: of, Text: part.Text})
		case *transcript.ReasoningPart:
			part.ID = of
			parts = append(parts, part)
		case *transcript.ToolPart:
			if m.Synthetic {
				continue
			}
			part.CallID, part.Complete = of, true
			if !last && !part.State.Terminal() {
				part.State = transcript.Done
			}
			parts = append(parts, part)
			m.Finished = m.Finished && part.State.Terminal()
			if part.State.Terminal() && part.Result == nil {
				part.Result = &transcript.Envelope{}
			}
		}
	}
	m.Parts = parts
}

// TestUnfold folds a message back to itself, as a replay has to.
func TestUnfold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := list(messages()).Draw(t, "messages")
		log := transcript.NewLog()
		for i, m := range want {
			said(m, fmt.Sprintf("msg_%d", i), i == len(want)-1)
			transcript.Unfold(m, log.Apply)
		}
		if diff := cmp.Diff(want, log.Record(), records); diff != "" {
			t.Errorf("(-message +unfolded and folded):\n%s", diff)
		}
	})
}

// TestLog_Restore goes on where a stored conversation ended: with what waits, and with what the
// tools remember.
func TestLog_Restore(t *testing.T) {
	call := &transcript.ToolPart{CallID: "c", Tool: "question", State: transcript.BlockedOnUser}
	log := transcript.NewLog()
	log.Restore(transcript.Snapshot{
		Messages: []*transcript.Message{
			{ID: "1", Role: transcript.User, Aside: true, Finished: true}, {ID: "2", Role: transcript.Assistant, Parts: []transcript.Part{call}},
		},
		Memory: transcript.Memory{Counts: map[string]int{"web_search": 3}},
	})
	if seen := log.Messages(); len(seen) != 1 || seen[0].ID != "2" {
		t.Errorf("a model sees %v", seen)
	}
	log.Apply(transcript.ToolFinished{CallID: "c", State: transcript.Done, Text: "blue"})
	log.Apply(transcript.Counted{What: "web_search"})
	if last := log.Record()[1]; !last.Finished || last.Calls()[0].Text != "blue" {
		t.Errorf("the call that waited ended as %+v", last.Calls()[0])
	}
	if n := log.Memory().Counts["web_search"]; n != 4 {
		t.Errorf("%d are counted", n)
	}
}
