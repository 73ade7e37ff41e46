package loop_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"acp-agent/compaction"
	"acp-agent/internal/trace"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// writer writes summaries, and counts them.
type writer struct {
	asked int
	write func(ctx context.Context, record string) (string, error)
}

func (w *writer) list() []compaction.Writer {
	return []compaction.Writer{{Model: "w", Write: func(ctx context.Context, record string) (string, error) {
		w.asked++
		if w.write == nil {
			return "SUMMARY", nil
		}
		return w.write(ctx, record)
	}}}
}

// compacts has a bench's loops compact what fills more of a window.
func compacts(w *writer, window int) func(*loop.Options) {
	return func(o *loop.Options) { o.Writers, o.Window = w.list, func() int { return window } }
}

// counted is an attempt of which the server says how many tokens it took.
func counted(tokens int, step attempt) attempt {
	return func(ctx context.Context, yield func(model.Chunk, error) bool) {
		yield(model.Chunk{Kind: model.Usage, Usage: &transcript.Usage{Input: tokens}}, nil)
		step(ctx, yield)
	}
}

// order names the steps and the ends of compactions among a bench's events.
func (b *bench) order() string {
	var list []string
	for _, e := range b.events {
		switch e := e.(type) {
		case transcript.StepStarted:
			list = append(list, "step")
		case transcript.Compacted:
			list = append(list, map[bool]string{true: "summary", false: "pruned"}[e.Message.Compaction.Summary])
		case transcript.CompactionFailed:
			list = append(list, "failed")
		case transcript.Notice:
			list = append(list, "notice")
		}
	}
	return strings.Join(list, " ")
}

var overflow = &model.Error{Kind: model.Overflow, Message: "too long"}

func TestCompact_BeforeTheRequest(t *testing.T) {
	long := strings.Repeat("long ", 2_000)
	b := newBench(counted(3_000, says(long, model.Stop)), counted(3_800, says(long, model.Stop)), says("done", model.Stop))
	w := &writer{}
	for _, prompt := range []string{"one", "two", "three"} {
		if _, err := b.turn(t.Context(), prompt, compacts(w, 4_000)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := b.order(), "step summary step summary step"; got != want {
		t.Errorf("it went %q, want %q", got, want)
	}
	last := b.model.requests[2].Messages
	if text := last[0].Text(); !strings.Contains(text, "SUMMARY") || !strings.Contains(text, "> one\n> two\n") {
		t.Errorf("the last request begins with %q", text)
	}
	if got := last[len(last)-1].Text(); got != "three" {
		t.Errorf("it ends with %q", got)
	}
	var used []int
	for i, e := range b.events {
		if _, ok := e.(transcript.Compacted); ok {
			used = append(used, b.events[i+1].(transcript.UsageChanged).Used)
		}
	}
	if len(used) != 2 || used[0] > 1_000 || used[1] > 1_000 {
		t.Errorf("after the compactions the window is said to hold %v", used)
	}
}

func TestCompact_FarFromTheLimitNothingHappens(t *testing.T) {
	b := newBench(counted(2_900, says("a", model.Stop)), says("b", model.Stop))
	w := &writer{}
	for range 2 {
		if _, err := b.turn(t.Context(), "go", compacts(w, 4_000)); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.order(); got != "step step" || w.asked > 0 {
		t.Errorf("it went %q, and %d summaries were written", got, w.asked)
	}
}

// A request that does not fit after all leads to one compaction and one more try.
func TestCompact_Overflow(t *testing.T) {
	tests := []struct {
		name     string
		attempts []attempt
		want     string
		fails    bool
	}{
		{"once", []attempt{says("hi", model.Stop), calls(model.ToolCalls, "read"), fails(overflow), says("done", model.Stop)}, "step step step summary notice step", false},
		{"again", []attempt{says("hi", model.Stop), calls(model.ToolCalls, "read"), fails(overflow), fails(overflow)}, "step step step summary notice step", true},
		{"later once more", []attempt{
			says("hi", model.Stop), fails(overflow), calls(model.ToolCalls, "read"), calls(model.ToolCalls, "grep"), calls(model.ToolCalls, "read"),
			fails(overflow), says("done", model.Stop),
		}, "step step summary notice step step step step summary notice step", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(tt.attempts...)
			w := &writer{}
			if _, err := b.turn(t.Context(), "first", compacts(w, 0)); err != nil {
				t.Fatal(err)
			}
			_, err := b.turn(t.Context(), "second", compacts(w, 0))
			if tt.fails != (err != nil) || err != nil && model.AsError(err).Kind != model.Overflow {
				t.Errorf("error %v", err)
			}
			if got := b.order(); got != tt.want {
				t.Errorf("it went %q, want %q", got, tt.want)
			}
		})
	}
}

// Of a prompt that does not fit by itself there is nothing to compact.
func TestCompact_OverflowOfThePrompt(t *testing.T) {
	b := newBench(fails(overflow))
	if _, err := b.turn(t.Context(), "too long", compacts(&writer{}, 0)); model.AsError(err).Message != "too long" {
		t.Errorf("error %v", err)
	}
	if got := b.order(); got != "step" {
		t.Errorf("it went %q", got)
	}
}

// What cannot be made short enough is said once, and not tried at each step.
func TestCompact_NotAtEachStep(t *testing.T) {
	large := func(text string) attempt { return counted(3_500, calls(model.ToolCalls, text)) }
	b := newBench(large("a"), large("b"), large("c"), large("d"), large("e"), says("done", model.Stop))
	b.tools.run = func(context.Context, *pipeline.Prepared) {}
	w := &writer{}
	if _, err := b.turn(t.Context(), strings.Repeat("prompt ", 1_400), compacts(w, 4_000)); err != nil {
		t.Fatal(err)
	}
	if n := count[transcript.Compacted](b); n > 2 {
		t.Errorf("it was compacted %d times in 6 steps: %s", n, b.order())
	}
}

func TestCompact_CancelledEndsTheTurn(t *testing.T) {
	b := newBench(counted(3_900, says(strings.Repeat("long ", 2_000), model.Stop)), says("never", model.Stop))
	ctx, cancel := context.WithCancel(t.Context())
	w := &writer{write: func(ctx context.Context, _ string) (string, error) {
		cancel()
		return "", context.Cause(ctx)
	}}
	if _, err := b.turn(ctx, "one", compacts(w, 4_000)); err != nil {
		t.Fatal(err)
	}
	before := b.log.Messages()
	stop, err := b.turn(ctx, "two", compacts(w, 4_000))
	if stop != loop.Cancelled || err != nil {
		t.Errorf("the turn ended with %q, %v", stop, err)
	}
	if got := b.order(); got != "step failed" {
		t.Errorf("it went %q", got)
	}
	if after := b.log.Messages(); !slices.Equal(after[:len(before)], before) {
		t.Error("the conversation was changed")
	}
}

// Compact is what the user asks for between turns.
func TestCompact_Manual(t *testing.T) {
	b := newBench(says(strings.Repeat("long ", 400), model.Stop))
	w := &writer{}
	if _, err := b.turn(t.Context(), "one", compacts(w, 0)); err != nil {
		t.Fatal(err)
	}
	var record string
	w.write = func(_ context.Context, text string) (string, error) {
		record = text
		return "SUMMARY", nil
	}
	l := loop.New(loop.Options{
		Provider: b.model, Tools: b.tools, Log: b.log, Sink: b, IDs: &transcript.IDs{}, Model: "m", Window: func() int { return 0 }, Writers: w.list,
	})
	before, after, err := l.Compact(t.Context(), "the colours")
	if err != nil || after >= before || !strings.Contains(record, "the colours") {
		t.Errorf("Compact = %d, %d, %v; the writer read %q", before, after, err, record)
	}
	if _, _, err := l.Compact(t.Context(), ""); !errors.Is(err, compaction.ErrNothing) {
		t.Errorf("a second time: %v", err)
	}
}

// A compaction is a span of the trace (R132).
func TestCompact_Span(t *testing.T) {
	var out bytes.Buffer
	b := newBench(counted(3_900, says(strings.Repeat("long ", 2_000), model.Stop)), says("done", model.Stop))
	for range 2 {
		_, err := b.turn(t.Context(), "go", compacts(&writer{}, 4_000), func(o *loop.Options) { o.Tracer = trace.New(slog.New(slog.NewJSONHandler(&out, nil))) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(out.String(), `"name":"`+trace.CompactionRun+`"`); n != 1 {
		t.Errorf("%d spans of compactions in\n%s", n, out.String())
	}
}
