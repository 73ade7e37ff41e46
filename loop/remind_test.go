package loop_test

import (
	"testing"

	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/transcript"
)

// R138, R157: what the model is told between requests stands at the end of the
// conversation, once, and stays there; what came before is unchanged.
func TestTurn_Reminded(t *testing.T) {
	fake := &fakeModel{attempts: []attempt{calls(model.ToolCalls, "read"), calls(model.ToolCalls, "read"), says("done", model.Stop)}}
	log, asked := transcript.NewLog(), 0
	l := loop.New(loop.Options{
		Provider: fake, Tools: &fakeTools{}, Log: log, Sink: transcript.SinkFunc(func(transcript.Event) {}), IDs: &transcript.IDs{},
		Model: "m", Window: func() int { return 0 },
		Remind: func() []transcript.Part {
			if asked++; asked != 2 {
				return nil
			}
			return []transcript.Part{&transcript.TextPart{Text: "be kind", Synthetic: true}}
		},
	})
	prompt := &transcript.Message{ID: "msg_1", Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: "go"}}}
	if stop, err := l.Turn(t.Context(), prompt); err != nil || stop != loop.EndTurn {
		t.Fatalf("stop %q, error %v", stop, err)
	}
	var lengths []int
	for _, request := range fake.requests {
		lengths = append(lengths, len(request.Messages))
	}
	if len(lengths) != 3 || lengths[0] != 1 || lengths[1] != 3 || lengths[2] != 4 {
		t.Fatalf("the requests have %v messages", lengths)
	}
	told := fake.requests[1].Messages[2]
	if told.Role != transcript.User || told.Text() != "be kind" || fake.requests[2].Messages[2] != told {
		t.Errorf("told %+v", told)
	}
}
