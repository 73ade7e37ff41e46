package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// What a cancelled call had produced is within its own bounds, with its own
// sidecar (R105, R142).
func TestCancel_KeepsTheTailOfTheOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the grace after a cancel is short for a busy machine
		ctx, cancel := context.WithCancel(t.Context())
		s := customStage(t, tools.Spec{OwnLimit: true}, func(context.Context, tools.Runtime) (*tools.Result, error) {
			cancel()
			text := strings.Repeat("x", 200_000) + "the tail"
			return &tools.Result{Data: text, Partial: true, Truncated: true, OutputPath: "/the/whole"}, nil
		})
		end := s.callIn(ctx, t, "custom", object{})
		meta := end.Result.Metadata
		if end.State != transcript.Cancelled || !strings.HasSuffix(end.Text, "the tail") || end.Result.ErrorText != end.Text ||
			!meta.Truncated || meta.OutputPath != "/the/whole" {
			t.Errorf("ended as %q with %d bytes, truncated %v, the whole in %q", end.State, len(end.Text), meta.Truncated, meta.OutputPath)
		}
	})
}

// A preview that does not stop does not hold up a cancel.
func TestAsk_PreviewThatHangs(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	began := make(chan struct{})
	spec := tools.Spec{Preview: func(context.Context, tools.Runtime, tools.Args) ([]kinds.Content, error) {
		close(began)
		<-release
		return nil, nil
	}}
	s := customStage(t, spec, func(context.Context, tools.Runtime) (*tools.Result, error) { return nil, nil })
	ctx, cancel := context.WithCancel(t.Context())
	var at time.Time
	go func() {
		<-began
		at = time.Now()
		cancel()
	}()
	want(t, s.callIn(ctx, t, "custom", object{}), transcript.Cancelled, "")
	if took := time.Since(at); took > 5*time.Second {
		t.Errorf("the answer came %s after the cancel", took)
	}
}

// R126: a call that waits for its turn is cancelled too.
func TestCancel_QueuedCall(t *testing.T) {
	s := newStage(t, nil)
	s.write(t, "a.txt", "text\n")
	prepared := s.Prepare(pipeline.Call{ID: "call_7", Name: "read", Input: `{"path":"a.txt"}`})
	if !s.Cancel("call_7") {
		t.Error("the queued call was not found")
	}
	want(t, s.Run(t.Context(), prepared, s), transcript.Cancelled, "cancelled by the user")
	if s.Cancel("call_7") {
		t.Error("the ended call is still there")
	}
	want(t, s.call(t, "read", object{"path": "a.txt"}), transcript.Done, "text")
}

// What was done as the clock ran out is done.
func TestTimeout_FinishedAsTheClockRings(t *testing.T) {
	limits := tools.CanonicalLimits()
	limits.Timeout = 20 * time.Millisecond
	s := newStage(t, func(o *pipeline.Options) { o.Limits = limits; o.Policy.Remember(allow("custom")) },
		custom(tools.Spec{}, func(ctx context.Context, _ tools.Runtime) (*tools.Result, error) {
			<-ctx.Done()
			return tools.Output("made it"), nil
		}))
	want(t, s.call(t, "custom", object{}), transcript.Done, "made it")
}
