package pipeline_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// neverAnswers is a user who sees a question and never answers it.
type neverAnswers struct {
	shown     func()
	withdrawn chan error
}

func (n neverAnswers) Ask(ctx context.Context, _ tools.PermissionRequest) (tools.Answer, error) {
	n.shown()
	<-ctx.Done()
	n.withdrawn <- context.Cause(ctx)
	return tools.RejectOnce, ctx.Err()
}

// A replay withdraws a question where the recording has that its time was over, and the call goes on: it has no time limit
// of its own, and no answer comes.
func TestPlay_QuestionWithdrawn(t *testing.T) {
	t.Parallel()
	const input = `{"cmd":"true"}`
	encode := func(v any) json.RawMessage {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	event := func(e transcript.Event) json.RawMessage {
		data, err := transcript.EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	sum := sha256.Sum256([]byte(input))
	ready := event(transcript.ToolReady{CallID: "call_1", Tool: "bash"})
	entries := []record.Entry{
		{Kind: record.Called, Of: 1, Name: "bash", Key: hex.EncodeToString(sum[:8])},
		{Kind: record.Step, Of: 1, Name: "prepared", Data: encode(map[string]any{"Ready": ready})},
		{Kind: record.Step, Of: 1, Name: "host question", Data: encode(map[string]any{"Ready": ready})},
		{Kind: record.Out, Data: encode("the question")},
		{Kind: record.Step, Of: 1, Name: "event", Data: event(transcript.ToolOutput{CallID: "call_1", Text: "printed meanwhile"})},
		{Kind: record.Step, Of: 1, Name: "host question over", Data: encode(map[string]any{"Withdrawn": true})},
		{Kind: record.Step, Of: 1, Name: "event", Data: event(transcript.ToolFinished{
			CallID: "call_1", State: transcript.Done, Text: "closed", Result: transcript.Envelope{Type: transcript.Output},
		})},
		{Kind: record.Returned, Of: 1},
	}
	player := record.NewPlayer(&record.Recording{Entries: entries})
	user := neverAnswers{func() { player.Finish(3) }, make(chan error, 1)}
	s := newStage(t, func(o *pipeline.Options) { o.Asker, o.Tape = user, record.PlayFrom(player) })
	if end := s.call(t, "bash", input); end.Text != "closed" {
		t.Errorf("the call ended with %q", end.Text)
	}
	if err := <-user.withdrawn; err == nil {
		t.Error("the question was not withdrawn")
	}
}

// A call whose card has no form for a recording is recorded without it, and the log says just that: a replay needs to know
// which calls ran concurrently.
func TestRecord_CardWithoutForm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	recorder, err := record.Create(path, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	spec := tools.Spec{Describe: func(tools.Args, kinds.Place) kinds.Card { return kinds.Card{Content: []kinds.Content{nil}} }}
	s := newStage(t, func(o *pipeline.Options) {
		o.Tape, o.Logger = record.RecordTo(recorder), slog.New(slog.NewTextHandler(&log, nil))
	}, custom(spec, nil))
	s.Prepare(pipeline.Call{ID: "call_1", Name: "custom", Input: "{}"})
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "the arguments and the card of a call are not recorded") {
		t.Errorf("log: %s", &log)
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(recorded), `"Serial":true`) {
		t.Errorf("recording: %s", recorded)
	}
}
