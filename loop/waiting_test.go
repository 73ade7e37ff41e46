package loop_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/record"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/transcript"
)

// slowSink takes an hour for the first notice.
type slowSink struct{ notices []string }

func (s *slowSink) Emit(e transcript.Event) {
	if notice, ok := e.(transcript.Notice); ok {
		if s.notices = append(s.notices, notice.Text); len(s.notices) == 1 {
			time.Sleep(time.Hour)
		}
	}
}

// TestLoop_WaitingLimit holds that the user is told when the wait ends by itself.
func TestLoop_WaitingLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(ctx context.Context, yield func(model.Chunk, error) bool) {
			time.Sleep(40 * time.Second)
			says("done", model.Stop)(ctx, yield)
		})
		b.model.patience = 2 * time.Minute
		if _, err := b.turn(t.Context(), "hi"); err != nil {
			t.Fatal(err)
		}
		want := []string{"Still waiting for the model: nothing of its answer has come for 30s. The request is given up when the server is silent for 2m0s."}
		if diff := cmp.Diff(want, noticesOf(b)); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
	})
}

// TestLoop_WaitingSlowSink holds that the user is told of the time that the model takes, and
// that an editor which is slow to take a notice brings no further one.
func TestLoop_WaitingSlowSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &slowSink{}
		slow := func(ctx context.Context, yield func(model.Chunk, error) bool) {
			time.Sleep(time.Hour + 3*time.Minute)
			says("done", model.Stop)(ctx, yield)
		}
		if _, err := newBench(slow).turn(t.Context(), "hi", func(o *loop.Options) { o.Sink = sink }); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"Still waiting for the model: nothing of its answer has come for 30s.",
			"Still waiting for the model: nothing of its answer has come for 1m0s.",
			"Still waiting for the model: nothing of its answer has come for 2m0s.",
		}
		if diff := cmp.Diff(want, sink.notices); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
	})
}

// A replay tells the user that the model sends nothing where the recording has that, between the same chunks, however
// long it waits itself, and although the recorder saw the next chunk before the notice.
func TestLoop_WaitingReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := record.NewPlayer(&record.Recording{Entries: []record.Entry{
			{Kind: record.Looked, Name: "waiting for the model", Key: "msg_1", Data: json.RawMessage(`{"Text": "Waiting, 1."}`)},
			{Kind: record.Chunk, Data: json.RawMessage(`"one "`)},
			{Kind: record.Chunk, Data: json.RawMessage(`"two"`)},
			{Kind: record.Looked, Name: "waiting for the model", Key: "msg_1", Data: json.RawMessage(`{"Text": "Waiting, 2.", "Chunks": 1}`)},
			{Kind: record.Looked, Name: "waiting for the model", Key: "msg_other", Data: json.RawMessage(`{"Text": "Of another step."}`)},
		}})
		b := newBench(func(_ context.Context, yield func(model.Chunk, error) bool) {
			time.Sleep(time.Hour)
			for i, text := range []string{"one ", "two"} {
				p.Finish(1 + i)
				if !yield(model.Chunk{Kind: model.Text, Text: text}, nil) {
					return
				}
			}
			yield(model.Chunk{Kind: model.Finish, Reason: model.Stop}, nil)
		})
		_, err := b.turn(t.Context(), "hi", func(o *loop.Options) {
			o.Tape = record.PlayFrom(p)
			o.IDs.Known = func(prefix string, _ func() string) string { return prefix + "1" }
		})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, e := range b.events {
			switch e := e.(type) {
			case transcript.Notice:
				said = append(said, e.Text)
			case transcript.PartDelta:
				said = append(said, e.Text)
			}
		}
		if diff := cmp.Diff([]string{"Waiting, 1.", "one ", "Waiting, 2.", "two"}, said); diff != "" {
			t.Errorf("what the user sees (-want +got):\n%s", diff)
		}
	})
}
