package loop_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/model"
	"acp-agent/transcript"
)

func streams(err error, chunks ...model.Chunk) attempt {
	return func(_ context.Context, yield func(model.Chunk, error) bool) {
		for _, chunk := range chunks {
			if !yield(chunk, nil) {
				return
			}
		}
		if err != nil {
			yield(model.Chunk{}, err)
		}
	}
}

// What a server wants back is in the message of the step, each block of reasoning with its
// own, and so is who wrote it, also when the answer is cut off.
func TestStep_KeepsReplay(t *testing.T) {
	data := func(s string) json.RawMessage { return json.RawMessage(s) }
	synctest.Test(t, func(t *testing.T) {
		b := newBench(
			streams(
				nil,
				model.Chunk{Kind: model.Reasoning, Text: "a"},
				model.Chunk{Kind: model.Reasoning, Text: "b", Origin: "o1"},
				model.Chunk{Kind: model.Reasoning, Replay: data(`1`), Origin: "o"},
				model.Chunk{Kind: model.Reasoning, Replay: data(`2`)},
				model.Chunk{Kind: model.Reasoning, Text: "c"},
				model.Chunk{Kind: model.Text, Text: "text"},
				model.Chunk{Kind: model.ToolCall, ID: "1", Name: "read", Arguments: `{}`, Replay: data(`{"s":1}`)},
				model.Chunk{Kind: model.Finish, Reason: model.ToolCalls},
			),
			streams(
				&model.Error{Kind: model.Invalid, Message: "cut"},
				model.Chunk{Kind: model.Text, Text: "half"},
				model.Chunk{Kind: model.Reasoning, Replay: data(`3`), Origin: "o2"},
			),
		)
		if _, err := b.turn(t.Context(), "go"); err == nil {
			t.Error("the second step does not fail")
		}
		checkClosed(t, b)
		messages := b.log.Messages()
		want := [][]transcript.Part{
			{
				&transcript.ReasoningPart{Text: "ab", Replay: data(`1`)},
				&transcript.ReasoningPart{Replay: data(`2`)},
				&transcript.ReasoningPart{Text: "c"},
				&transcript.TextPart{Text: "text"},
				&transcript.ToolPart{Name: "read", Tool: "read", Input: `{}`, Complete: true, State: transcript.Done, Text: "result of read", Replay: data(`{"s":1}`)},
			},
			{&transcript.TextPart{Text: "half"}, &transcript.ReasoningPart{Replay: data(`3`)}},
		}
		ignore := cmp.Options{
			cmpopts.IgnoreFields(transcript.ReasoningPart{}, "ID"), cmpopts.IgnoreFields(transcript.TextPart{}, "ID"),
			cmpopts.IgnoreFields(transcript.ToolPart{}, "CallID", "Card", "Result"),
		}
		for i, origin := range []string{"o", "o2"} {
			m := messages[i+1]
			if diff := cmp.Diff(want[i], m.Parts, ignore); diff != "" || m.Origin != origin {
				t.Errorf("step %d by %q (-want +got):\n%s", i, m.Origin, diff)
			}
		}
	})
}
