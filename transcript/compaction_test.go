package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/transcript"
)

// talk makes a log of so many turns: a prompt and an answer with one call and its result.
func talk(turns int) *transcript.Log {
	log := transcript.NewLog()
	for i := range turns {
		n := string(rune('1' + i))
		for _, e := range []transcript.Event{
			transcript.UserSaid{Message: &transcript.Message{ID: "u" + n, Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: "prompt " + n}}}},
			transcript.StepStarted{MessageID: "a" + n},
			transcript.ToolStarted{MessageID: "a" + n, CallID: "c" + n, Name: "read", Tool: "read"},
			transcript.StepFinished{MessageID: "a" + n, Usage: &transcript.Usage{Input: 100}},
			transcript.ToolFinished{CallID: "c" + n, State: transcript.Done, Text: "result " + n},
		} {
			log.Apply(e)
		}
	}
	return log
}

// compacted is the end of a compaction.
func compacted(id, summary string, c transcript.Compaction) transcript.Compacted {
	m := &transcript.Message{ID: id, Role: transcript.Assistant, Synthetic: true, Compaction: &c}
	if c.Summary = summary != ""; c.Summary {
		m.Parts = []transcript.Part{&transcript.TextPart{Text: summary, Synthetic: true}}
	}
	return transcript.Compacted{Message: m}
}

// seen is what a model sees of a log, in short.
func seen(log *transcript.Log) string {
	var words []string
	for _, m := range log.Messages() {
		text := m.ID
		for _, call := range m.Calls() {
			text += "(" + call.Text + ")"
		}
		if m.Usage != nil {
			text += "*"
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

const takenOut = "[This result was taken out to save room; call the tool again if you need it]"

func TestLog_Compacted(t *testing.T) {
	tests := []struct {
		name   string
		events []transcript.Event
		want   string
	}{
		{
			"summary and tail",
			[]transcript.Event{compacted("s", "sum", transcript.Compaction{Keep: []string{"u3", "a3"}})},
			"s u3 a3(result 3)",
		},
		{
			"results alone",
			[]transcript.Event{compacted("s", "", transcript.Compaction{Pruned: []string{"c1", "c2"}})},
			"u1 a1(" + takenOut + ") u2 a2(" + takenOut + ") u3 a3(result 3)",
		},
		{
			"results of the tail",
			[]transcript.Event{compacted("s", "sum", transcript.Compaction{Keep: []string{"a2", "u3", "a3"}, Pruned: []string{"c2"}})},
			"s a2(" + takenOut + ") u3 a3(result 3)",
		},
		{
			"twice",
			[]transcript.Event{
				compacted("s", "sum", transcript.Compaction{Keep: []string{"u3", "a3"}}),
				compacted("t", "sum of sum", transcript.Compaction{Keep: []string{"a3"}}),
			},
			"t a3(result 3)",
		},
		{
			"what was pruned stays pruned",
			[]transcript.Event{
				compacted("s", "", transcript.Compaction{Pruned: []string{"c3"}}),
				compacted("t", "sum", transcript.Compaction{Keep: []string{"a3"}}),
			},
			"t a3(" + takenOut + ")",
		},
		{
			"ids that are not there",
			[]transcript.Event{compacted("s", "sum", transcript.Compaction{Keep: []string{"gone"}, Pruned: []string{"gone"}})},
			"s",
		},
		{
			"cleared after it",
			[]transcript.Event{compacted("s", "sum", transcript.Compaction{}), transcript.Cleared{MessageID: "x"}},
			"",
		},
		{
			"withdrawn with its turn",
			[]transcript.Event{compacted("s", "sum", transcript.Compaction{}), transcript.TurnWithdrawn{MessageID: "u3"}},
			"u1 a1(result 1)* u2 a2(result 2)*",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := talk(3)
			before := len(log.Record())
			for _, e := range tt.events {
				log.Apply(e)
			}
			if got := seen(log); got != tt.want {
				t.Errorf("the model sees %q, want %q", got, tt.want)
			}
			record := log.Record()
			if tt.name != "withdrawn with its turn" && len(record) != before+len(tt.events) {
				t.Errorf("the record has %d messages, want %d and the %d new ones", len(record), before, len(tt.events))
			}
			for _, m := range record {
				for _, call := range m.Calls() {
					if !strings.HasPrefix(call.Text, "result ") || m.Usage == nil {
						t.Errorf("the record of %s was changed: %q, usage %v", m.ID, call.Text, m.Usage)
					}
				}
			}
			loaded := roundTrip(t, transcript.Snapshot{Messages: record})
			if diff := cmp.Diff(log.Messages(), transcript.NewLog(loaded.Messages...).Messages()); diff != "" {
				t.Errorf("stored and loaded, the model sees (-live +loaded):\n%s", diff)
			}
		})
	}
}

// A message that comes after a compaction stays as it was, and so do messages that a step drops.
func TestLog_GoesOnAfterCompaction(t *testing.T) {
	log := talk(1)
	log.Apply(compacted("s", "sum", transcript.Compaction{Keep: []string{"a1"}}))
	log.Apply(transcript.StepStarted{MessageID: "a2"})
	log.Apply(transcript.PartStarted{MessageID: "a2", PartID: "p"})
	log.Apply(transcript.PartDelta{PartID: "p", Text: "so far"})
	list := log.Messages()
	if got := list[len(list)-1].Text(); seen(log) != "s a1(result 1) a2" || got != "so far" {
		t.Errorf("the model sees %q, the last says %q", seen(log), got)
	}
	log.Apply(transcript.StepDropped{MessageID: "a2"})
	if got := seen(log); got != "s a1(result 1)" {
		t.Errorf("after the step was dropped, the model sees %q", got)
	}
}

// The file that has the whole of a result is named where the result was.
func TestLog_PrunedNamesTheFile(t *testing.T) {
	log := transcript.NewLog()
	for _, e := range []transcript.Event{
		transcript.StepStarted{MessageID: "a"},
		transcript.ToolStarted{MessageID: "a", CallID: "c", Name: "bash"},
		transcript.StepFinished{MessageID: "a"},
		transcript.ToolFinished{
			CallID: "c", State: transcript.Done, Text: "much", Images: []transcript.ImagePart{{MediaType: "image/png"}},
			Result: transcript.Envelope{Metadata: transcript.Metadata{OutputPath: "/sidecar/1"}},
		},
		compacted("s", "", transcript.Compaction{Pruned: []string{"c"}}),
	} {
		log.Apply(e)
	}
	call := log.Messages()[0].Calls()[0]
	if want := "[This result was taken out to save room; all of it is in /sidecar/1]"; call.Text != want || len(call.Images) > 0 {
		t.Errorf("the model reads %q with %d images, want %q", call.Text, len(call.Images), want)
	}
}

// An undo that takes back a message before a compaction takes back the compaction, and a redo
// brings both back.
func TestLog_CompactionAndUndo(t *testing.T) {
	log := talk(3)
	log.Apply(compacted("s", "sum", transcript.Compaction{Keep: []string{"u3", "a3"}}))
	after := seen(log)
	log.Apply(transcript.Hidden{MessageID: "u3"})
	if got, want := seen(log), "u1 a1(result 1)* u2 a2(result 2)*"; got != want {
		t.Errorf("after the undo, the model sees %q, want %q", got, want)
	}
	log.Apply(transcript.Shown{MessageID: "u3"})
	if got := seen(log); got != after {
		t.Errorf("after the redo, the model sees %q, want %q", got, after)
	}
}
