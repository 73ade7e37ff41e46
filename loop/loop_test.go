package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

func TestMain(m *testing.M) {
	testreq.Checks(30)
	goleak.VerifyTestMain(m)
}

// attempt is what a fake model does when it is asked once.
type attempt func(ctx context.Context, yield func(model.Chunk, error) bool)

// fakeModel answers each request with the next attempt.
type fakeModel struct {
	mu       sync.Mutex
	attempts []attempt
	requests []model.Request
	patience time.Duration // which it tells of, where that is not 0
}

func (f *fakeModel) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, *req)
	if f.patience > 0 {
		req.Patience(f.patience)
	}
	next := f.attempts[min(len(f.requests), len(f.attempts))-1]
	return func(yield func(model.Chunk, error) bool) { next(ctx, yield) }
}

func (f *fakeModel) Models(context.Context) ([]model.Info, error)     { return nil, nil }
func (f *fakeModel) Probe(context.Context, string) ([]string, error)  { return nil, nil }
func (f *fakeModel) Describe(_ context.Context, id string) model.Info { return model.Info{ID: id} }

func says(text string, finish model.FinishReason) attempt {
	return func(_ context.Context, yield func(model.Chunk, error) bool) {
		if text == "" || yield(model.Chunk{Kind: model.Text, Text: text}, nil) {
			yield(model.Chunk{Kind: model.Finish, Reason: finish}, nil)
		}
	}
}

func fails(err error) attempt {
	return func(_ context.Context, yield func(model.Chunk, error) bool) { yield(model.Chunk{}, err) }
}

func calls(finish model.FinishReason, names ...string) attempt {
	return func(_ context.Context, yield func(model.Chunk, error) bool) {
		for i, name := range names {
			yield(model.Chunk{Kind: model.ToolCall, Index: i, ID: fmt.Sprint(i), Name: name, Arguments: `{"n":`}, nil)
			yield(model.Chunk{Kind: model.ToolCall, Index: i, Arguments: fmt.Sprint(i) + `}`}, nil)
		}
		yield(model.Chunk{Kind: model.Finish, Reason: finish}, nil)
	}
}

func cutInCall(_ context.Context, yield func(model.Chunk, error) bool) {
	yield(model.Chunk{Kind: model.ToolCall, ID: "a", Name: "bash", Arguments: `{"cmd":"rm`}, nil)
	yield(model.Chunk{}, &model.Error{Kind: model.Transient, Message: "the stream was cut", Interrupted: true})
}

// fakeTools runs nothing; each call's result is its name.
type fakeTools struct {
	mu  sync.Mutex
	ran []string
	run func(ctx context.Context, call *pipeline.Prepared)
	// text is a call's result; nil means that it is its name.
	text func(call *pipeline.Prepared) string
}

func (f *fakeTools) Catalog() []model.Tool { return []model.Tool{{Name: "read"}} }

func (f *fakeTools) Label(name string) (string, kinds.Card) {
	id := strings.ToLower(name)
	return id, kinds.Neutral(id)
}

func (f *fakeTools) ModelBytes(window, used, calls int) int { return (window - used) / calls }

func (f *fakeTools) Prepare(call pipeline.Call) *pipeline.Prepared {
	return &pipeline.Prepared{
		Call: call, Tool: strings.ToLower(call.Name), Args: json.RawMessage(call.Input),
		Card: kinds.Card{Title: call.Name}, Malformed: !json.Valid([]byte(call.Input)),
	}
}

func (f *fakeTools) Run(ctx context.Context, call *pipeline.Prepared, sink transcript.Sink) transcript.ToolFinished {
	f.mu.Lock()
	f.ran = append(f.ran, call.Tool+" "+call.Input)
	f.mu.Unlock()
	end := transcript.ToolFinished{CallID: call.ID, State: transcript.Done, Text: "result of " + call.Tool}
	if f.text != nil {
		f.mu.Lock()
		end.Text = f.text(call)
		f.mu.Unlock()
	}
	if f.run != nil {
		f.run(ctx, call)
	}
	if ctx.Err() != nil {
		end = pipeline.Unrun(call.ID, call.Card, transcript.Cancelled, pipeline.CancelledText)
	}
	sink.Emit(end)
	return end
}

type bench struct {
	model  *fakeModel
	tools  *fakeTools
	log    *transcript.Log
	mu     sync.Mutex
	events []transcript.Event
}

func newBench(attempts ...attempt) *bench {
	return &bench{model: &fakeModel{attempts: attempts}, tools: &fakeTools{}, log: transcript.NewLog()}
}

func (b *bench) Emit(e transcript.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
}

func (b *bench) turn(ctx context.Context, text string, edit ...func(*loop.Options)) (loop.StopReason, error) {
	o := loop.Options{
		Provider: b.model, Tools: b.tools, Log: b.log, Sink: b, IDs: &transcript.IDs{}, System: "be good", Model: "m", Window: func() int { return 100 },
	}
	for _, f := range edit {
		f(&o)
	}
	return loop.New(o).Turn(ctx, &transcript.Message{ID: o.IDs.New("msg_u"), Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: text}}})
}

func count[E transcript.Event](b *bench) int {
	n := 0
	for _, e := range b.events {
		if _, ok := e.(E); ok {
			n++
		}
	}
	return n
}

func transient(text string) *model.Error { return &model.Error{Kind: model.Transient, Message: text} }

func TestTurn_StopReasons(t *testing.T) {
	tests := []struct {
		name     string
		attempts []attempt
		edit     func(*loop.Options)
		want     loop.StopReason
		wantErr  string
		requests int
	}{
		{name: "plain answer", attempts: []attempt{says("hi", model.Stop)}, want: loop.EndTurn, requests: 1},
		{name: "token limit", attempts: []attempt{says("hi", model.Length)}, want: loop.MaxTokens, requests: 1},
		{name: "refusal", attempts: []attempt{says("no", model.Refusal)}, want: loop.Refusal, requests: 1},
		{name: "tool then answer", attempts: []attempt{calls(model.ToolCalls, "read"), says("done", model.Stop)}, want: loop.EndTurn, requests: 2},
		{
			name: "step cap", attempts: []attempt{calls(model.ToolCalls, "read")}, want: loop.MaxTurnRequests, requests: 4,
			edit: func(o *loop.Options) { o.MaxSteps = 4 },
		},
		{name: "repeating itself", attempts: []attempt{calls(model.ToolCalls, "read")}, want: loop.MaxTurnRequests, requests: 10},
		{name: "empty once", attempts: []attempt{says("", model.Stop), says("hi", model.Stop)}, want: loop.EndTurn, requests: 2},
		{name: "empty twice", attempts: []attempt{says("", model.Stop)}, wantErr: "empty answer twice", requests: 2},
		{name: "transient once", attempts: []attempt{fails(transient("busy")), says("hi", model.Stop)}, want: loop.EndTurn, requests: 2},
		{name: "transient for ever", attempts: []attempt{fails(transient("busy"))}, wantErr: "busy (tried 5 times)", requests: 5},
		{name: "auth is final", attempts: []attempt{fails(&model.Error{Kind: model.Auth, Message: "bad key"})}, wantErr: "bad key", requests: 1},
		{
			name: "a wait beyond the limit is not waited for", requests: 1, wantErr: "the server asks to wait 10m0s",
			attempts: []attempt{fails(&model.Error{Kind: model.Transient, Message: "quota", RetryAfter: 10 * time.Minute})},
		},
		{name: "cut in a call", attempts: []attempt{cutInCall, says("hi", model.Stop)}, want: loop.EndTurn, requests: 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(test.attempts...)
				endings := 0
				edits := []func(*loop.Options){func(o *loop.Options) {
					o.Ending = func() bool { endings += 1 - count[transcript.TurnFinished](b); return false }
				}}
				if test.edit != nil {
					edits = append(edits, test.edit)
				}
				stop, err := b.turn(t.Context(), "go", edits...)
				if stop != test.want {
					t.Errorf("stop reason %q, want %q", stop, test.want)
				}
				if (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("error %v, want %q", err, test.wantErr)
				}
				if len(b.model.requests) != test.requests {
					t.Errorf("%d requests, want %d", len(b.model.requests), test.requests)
				}
				if endings != 1 {
					t.Errorf("%d endings before the last event", endings)
				}
				checkClosed(t, b)
			})
		})
	}
}

// checkClosed holds every stream to R125 and R134: what was opened is closed,
// once.
func checkClosed(t *testing.T, b *bench) {
	t.Helper()
	parts, open := map[string]bool{}, map[string]bool{}
	for _, e := range b.events {
		switch e := e.(type) {
		case transcript.PartStarted:
			parts[e.PartID] = true
		case transcript.PartDelta:
			if !parts[e.PartID] {
				t.Errorf("delta of %s, which is not open", e.PartID)
			}
		case transcript.PartEnded:
			delete(parts, e.PartID)
		case transcript.ToolStarted:
			open[e.CallID] = true
		case transcript.ToolFinished:
			if !open[e.CallID] {
				t.Errorf("call %s ended without being open", e.CallID)
			}
			delete(open, e.CallID)
		}
	}
	if len(parts)+len(open) > 0 {
		t.Errorf("left open: parts %v, calls %v", parts, open)
	}
	if got := b.log.OpenCalls(); len(got) > 0 {
		t.Errorf("the log has open calls: %v", got)
	}
	if last := b.events[len(b.events)-1]; !isType[transcript.TurnFinished](last) {
		t.Errorf("the last event is %T, want TurnFinished", last)
	}
}

func isType[T any](v any) bool { _, ok := v.(T); return ok }

func TestTurn_CutCallNeverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(cutInCall, calls(model.Length, "bash"), says("sorry", model.Stop))
		if stop, err := b.turn(t.Context(), "go"); stop != loop.EndTurn || err != nil {
			t.Fatalf("got %q, %v", stop, err)
		}
		for _, m := range b.log.Messages() {
			for _, call := range m.Calls() {
				if call.State != transcript.Done && call.State != transcript.Failed {
					t.Errorf("call %s is %s", call.CallID, call.State)
				}
			}
		}
		if n := count[transcript.Notice](b); n != 1 {
			t.Errorf("%d notices, want one about the retry", n)
		}
		// The fake runs what it is given; the pipeline refuses what was cut.
		for _, ran := range b.tools.ran {
			if strings.Contains(ran, "rm") {
				t.Errorf("ran %q, which was cut", ran)
			}
		}
	})
}

// cutIn says text and fails.
func cutIn(text string, failure *model.Error) attempt {
	return func(_ context.Context, yield func(model.Chunk, error) bool) {
		yield(model.Chunk{Kind: model.Text, Text: text}, nil)
		yield(model.Chunk{}, failure)
	}
}

func TestTurn_GoesOnAfterACut(t *testing.T) {
	broken := &model.Error{Kind: model.Transient, Message: "the stream was cut", Interrupted: true}
	t.Run("what was shown stays, the answer goes on after it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(cutIn("half an ans", broken), says("wer", model.Stop))
			if stop, err := b.turn(t.Context(), "go"); stop != loop.EndTurn || err != nil {
				t.Fatalf("got %q, %v", stop, err)
			}
			messages := b.model.requests[1].Messages
			if got := messages[1].Text(); got != "half an ans" {
				t.Errorf("the model is shown %q, want what the user saw", got)
			}
			if last := messages[len(messages)-1]; !loop.GoesOn(last) {
				t.Errorf("the model is told %q", last.Text())
			}
			checkClosed(t, b)
		})
	})
	t.Run("not for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(cutIn("half", broken))
			_, err := b.turn(t.Context(), "go")
			if err == nil || !strings.Contains(err.Error(), "tried 5 times") || len(b.model.requests) != 5 {
				t.Errorf("error %v after %d requests", err, len(b.model.requests))
			}
			checkClosed(t, b)
		})
	})
	t.Run("not after a long silence", func(t *testing.T) {
		silent := &model.Error{Kind: model.Transient, Message: "silent for 6m0s", Interrupted: true, TimedOut: true}
		b := newBench(cutIn("half", silent))
		if _, err := b.turn(t.Context(), "go"); err == nil || len(b.model.requests) != 1 {
			t.Errorf("error %v after %d requests, want one", err, len(b.model.requests))
		}
		checkClosed(t, b)
	})
}

func TestTurn_WaitsForABusyServer(t *testing.T) {
	busy := func(after time.Duration) *model.Error {
		return &model.Error{Kind: model.Transient, Busy: true, Message: "Loading model", RetryAfter: after}
	}
	t.Run("by what the server says", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			b := newBench(fails(busy(4*time.Minute)), fails(busy(5*time.Minute)), says("hi", model.Stop))
			if stop, err := b.turn(t.Context(), "go"); stop != loop.EndTurn || err != nil {
				t.Fatalf("got %q, %v", stop, err)
			}
			if waited := time.Since(start); waited != 9*time.Minute {
				t.Errorf("waited %v, want what the server asked for", waited)
			}
			notices := noticesOf(b)
			want := "Loading model. Trying again in 4m0s, as the server is busy (4m0s of at most 10m0s)."
			if len(notices) != 2 || notices[0] != want {
				t.Errorf("the user was told %q, want first %q", notices, want)
			}
		})
	})
	t.Run("more often than one that fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var attempts []attempt
			for range 12 {
				attempts = append(attempts, fails(busy(0)))
			}
			b := newBench(append(attempts, says("hi", model.Stop))...)
			if stop, err := b.turn(t.Context(), "go"); stop != loop.EndTurn || err != nil {
				t.Fatalf("got %q, %v", stop, err)
			}
		})
	})
	t.Run("for ten minutes at most", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			b := newBench(fails(busy(0)))
			if _, err := b.turn(t.Context(), "go"); err == nil {
				t.Error("no error")
			}
			if waited := time.Since(start); waited > 10*time.Minute || waited < 9*time.Minute {
				t.Errorf("waited %v", waited)
			}
		})
	})
	t.Run("a cancel ends the wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Minute, cancel)
			start := time.Now()
			b := newBench(fails(busy(5 * time.Minute)))
			if stop, err := b.turn(ctx, "go"); stop != loop.Cancelled || err != nil {
				t.Errorf("got %q, %v", stop, err)
			}
			if waited := time.Since(start); waited != time.Minute {
				t.Errorf("waited %v", waited)
			}
		})
	})
}

func noticesOf(b *bench) []string {
	var texts []string
	for _, e := range b.events {
		if notice, ok := e.(transcript.Notice); ok {
			texts = append(texts, notice.Text)
		}
	}
	return texts
}

func TestTurn_CancelIsNoError(t *testing.T) {
	t.Run("while the model speaks", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBench(func(ctx context.Context, yield func(model.Chunk, error) bool) {
			if yield(model.Chunk{Kind: model.Text, Text: "thinking"}, nil) {
				cancel()
				yield(model.Chunk{}, ctx.Err())
			}
		})
		if stop, err := b.turn(ctx, "go"); stop != loop.Cancelled || err != nil {
			t.Errorf("got %q, %v", stop, err)
		}
		checkClosed(t, b)
		if got := b.log.Messages()[1].Text(); got != "thinking" {
			t.Errorf("kept %q", got)
		}
	})
	t.Run("before it starts", func(t *testing.T) {
		b := newBench(says("hi", model.Stop))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if stop, err := b.turn(ctx, "go"); stop != loop.Cancelled || err != nil {
			t.Errorf("got %q, %v", stop, err)
		}
		checkClosed(t, b)
	})
	t.Run("during a batch", func(t *testing.T) {
		b := newBench(calls(model.ToolCalls, "a", "b", "c"))
		ctx, cancel := context.WithCancel(t.Context())
		b.tools.run = func(ctx context.Context, _ *pipeline.Prepared) {
			cancel()
			<-ctx.Done()
		}
		if stop, err := b.turn(ctx, "go"); stop != loop.Cancelled || err != nil {
			t.Errorf("got %q, %v", stop, err)
		}
		checkClosed(t, b)
	})
	t.Run("while waiting to try again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(fails(transient("busy")))
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			if stop, err := b.turn(ctx, "go"); stop != loop.Cancelled || err != nil {
				t.Errorf("got %q, %v", stop, err)
			}
			checkClosed(t, b)
		})
	})
}

func TestTurn_ResultsInCallOrder(t *testing.T) {
	b := newBench(calls(model.ToolCalls, "a", "b", "c"), says("ok", model.Stop))
	b.tools.run = func(_ context.Context, call *pipeline.Prepared) {
		if call.Tool == "a" {
			time.Sleep(5 * time.Millisecond)
		}
	}
	if _, err := b.turn(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, call := range b.model.requests[1].Messages[1].Calls() {
		got = append(got, call.Tool+": "+call.Text)
	}
	want := []string{"a: result of a", "b: result of b", "c: result of c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestTurn_RefusalIsForgotten(t *testing.T) {
	b := newBench(says("no", model.Refusal), says("hi", model.Stop))
	if stop, _ := b.turn(t.Context(), "bad"); stop != loop.Refusal {
		t.Fatalf("got %q", stop)
	}
	if _, err := b.turn(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	if got := b.model.requests[1].Messages; len(got) != 1 || got[0].Text() != "good" {
		t.Errorf("the model sees %d messages after a refusal, want the new prompt alone", len(got))
	}
}

func TestTurn_UsageIsReportedOrEstimated(t *testing.T) {
	reported := func(_ context.Context, yield func(model.Chunk, error) bool) {
		yield(model.Chunk{Kind: model.Text, Text: "hi"}, nil)
		yield(model.Chunk{Kind: model.Usage, Usage: &transcript.Usage{Input: 10, CacheRead: 5, Output: 3, Reasoning: 2}}, nil)
		yield(model.Chunk{Kind: model.Finish, Reason: model.Stop}, nil)
	}
	for name, test := range map[string]struct {
		attempt attempt
		want    int
	}{
		"reported": {reported, 20},
		// The system prompt and the tool 4, 8 around each of them and of two messages.
		"estimated": {says(strings.Repeat("x", 300), model.Stop), 4 + 8 + 8 + 8 + 100},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(test.attempt)
			if _, err := b.turn(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			var got transcript.UsageChanged
			for _, e := range b.events {
				if e, ok := e.(transcript.UsageChanged); ok {
					got = e
				}
			}
			if want := (transcript.UsageChanged{Used: test.want, Size: 100}); got != want {
				t.Errorf("usage %+v, want %+v", got, want)
			}
		})
	}
}

func TestTurn_MalformedArgumentsStopAfterThree(t *testing.T) {
	bad := func(_ context.Context, yield func(model.Chunk, error) bool) {
		yield(model.Chunk{Kind: model.ToolCall, ID: "a", Name: "read", Arguments: `{"path": nonsense !!`}, nil)
		yield(model.Chunk{Kind: model.Finish, Reason: model.ToolCalls}, nil)
	}
	b := newBench(bad)
	if stop, err := b.turn(t.Context(), "go"); stop != loop.MaxTurnRequests || err != nil {
		t.Errorf("got %q, %v", stop, err)
	}
	if len(b.model.requests) != 3 {
		t.Errorf("%d requests, want 3", len(b.model.requests))
	}
}

func TestTurn_ProviderErrorKeepsItsKind(t *testing.T) {
	b := newBench(fails(&model.Error{Kind: model.Auth, Message: "bad key"}))
	_, err := b.turn(t.Context(), "go")
	var failure *model.Error
	if !errors.As(err, &failure) || failure.Kind != model.Auth {
		t.Errorf("got %v, want a model.Error of kind Auth", err)
	}
}

// R66: what halts a turn stops it before the next model call, and Why says so, as it does
// of the loop's own bounds.
func TestTurn_WhyItWasStopped(t *testing.T) {
	tests := []struct {
		name     string
		edit     func(*loop.Options)
		why      string
		requests int
	}{
		{"halted at once", func(o *loop.Options) { o.Halt = func() string { return "because it is late" } }, "because it is late", 0},
		{"cap", func(o *loop.Options) { o.MaxSteps = 3 }, "after 3 model calls", 3},
		{"no headway", func(*loop.Options) {}, "because the model repeated the same calls", 10},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(calls(model.ToolCalls, "read"))
			o := loop.Options{
				Provider: b.model, Tools: b.tools, Log: b.log, Sink: b, IDs: &transcript.IDs{}, Window: func() int { return 0 },
			}
			test.edit(&o)
			l := loop.New(o)
			stop, err := l.Turn(t.Context(), &transcript.Message{ID: "msg_u", Role: transcript.User})
			if stop != loop.MaxTurnRequests || err != nil || !strings.HasPrefix(l.Why(), test.why) || len(b.model.requests) != test.requests {
				t.Errorf("%s, %v, %q after %d requests", stop, err, l.Why(), len(b.model.requests))
			}
			checkClosed(t, b)
		})
	}
}
