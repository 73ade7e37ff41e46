package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/trace"
)

// records decodes the log, one span a line, by the span's name.
func records(t *testing.T, log *bytes.Buffer) map[string]map[string]any {
	t.Helper()
	spans := map[string]map[string]any{}
	for line := range strings.Lines(log.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("record %q: %v", line, err)
		}
		if record["msg"] != "span" || record["level"] != "INFO" {
			t.Errorf("record has message %v at level %v", record["msg"], record["level"])
		}
		spans[record["name"].(string)] = record
	}
	return spans
}

func TestTracer_WritesTheTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		tracer := trace.New(slog.New(slog.NewJSONHandler(&log, nil)))
		ctx, session := tracer.Session(t.Context(), "ses_1")
		turnCtx, turn := tracer.Turn(trace.WithSpan(context.Background(), session), "trn_1", "main")
		_, chat := tracer.Chat(turnCtx, "small")
		time.Sleep(1500 * time.Microsecond)
		chat.Tokens(10, 20)
		chat.Finish("tool_calls")
		chat.End(nil)
		toolCtx, tool := tracer.Tool(turnCtx, "read", "call_1")
		_, permission := tracer.Permission(toolCtx, "read")
		permission.Verdict("deny")
		permission.End(nil)
		tool.Fail("denied")
		tool.End(errors.New("a secret of the file"))
		_, compaction := tracer.Compaction(ctx)
		compaction.End(nil)
		turn.End(context.Canceled)
		session.End(nil)

		got := records(t, &log)
		ids := map[string]string{}
		for name, record := range got {
			ids[record["span_id"].(string)] = name
			if record["trace_id"] != got[trace.SessionRun]["trace_id"] || len(record["trace_id"].(string)) != 32 || len(record["span_id"].(string)) != 16 {
				t.Errorf("%s has the trace %v and the id %v", name, record["trace_id"], record["span_id"])
			}
		}
		start := got[trace.ModelCall]["start"]
		for _, record := range got {
			if parent, ok := record["parent_span_id"].(string); ok {
				record["parent_span_id"] = ids[parent]
			}
			for _, key := range []string{"time", "level", "msg", "name", "trace_id", "span_id", "start"} {
				delete(record, key)
			}
		}
		want := map[string]map[string]any{
			trace.SessionRun: {"status": "ok", "duration_ms": 1.5, "gen_ai.conversation.id": "ses_1"},
			trace.SessionTurn: {
				"parent_span_id": trace.SessionRun, "status": "error", "duration_ms": 1.5, "error.type": "cancelled",
				"gen_ai.conversation.id": "ses_1", "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "main",
				"acp_agent.turn.id": "trn_1",
			},
			trace.ModelCall: {
				"parent_span_id": trace.SessionTurn, "status": "ok", "duration_ms": 1.5,
				"gen_ai.conversation.id": "ses_1", "gen_ai.operation.name": "chat", "gen_ai.request.model": "small",
				"gen_ai.usage.input_tokens": 10.0, "gen_ai.usage.output_tokens": 20.0,
				"gen_ai.response.finish_reasons": []any{"tool_calls"},
			},
			trace.ToolCall: {
				"parent_span_id": trace.SessionTurn, "status": "error", "duration_ms": 0.0, "error.type": "denied",
				"gen_ai.conversation.id": "ses_1", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read",
				"gen_ai.tool.call.id": "call_1", "gen_ai.tool.type": "function",
			},
			trace.PermissionEvaluate: {
				"parent_span_id": trace.ToolCall, "status": "ok", "duration_ms": 0.0, "gen_ai.conversation.id": "ses_1",
				"gen_ai.tool.name": "read", "acp_agent.permission.verdict": "deny",
			},
			trace.CompactionRun: {
				"parent_span_id": trace.SessionRun, "status": "ok", "duration_ms": 0.0, "gen_ai.conversation.id": "ses_1",
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("spans (-want +got):\n%s", diff)
		}
		if strings.Contains(log.String(), "secret") {
			t.Error("the text of an error is in the log")
		}
		if at, err := time.Parse(time.RFC3339Nano, start.(string)); err != nil || !at.Equal(time.Now().Add(-1500*time.Microsecond)) {
			t.Errorf("start = %v, %v", start, err)
		}
	})
}

func TestSpan_End(t *testing.T) {
	tests := []struct {
		name         string
		err          error
		status, kind any
	}{
		{"no error", nil, "ok", nil},
		{"cancelled", fmt.Errorf("read: %w", context.Canceled), "error", "cancelled"},
		{"timeout", fmt.Errorf("read: %w", context.DeadlineExceeded), "error", "timeout"},
		{"other", errors.New("x"), "error", "_OTHER"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			_, span := trace.New(slog.New(slog.NewJSONHandler(&log, nil))).Start(t.Context(), "work", slog.Int("n", 1))
			span.Set(slog.Int("n", 2))
			span.End(tt.err)
			span.Set(slog.Int("n", 3))
			span.End(errors.New("again"))
			if n := strings.Count(log.String(), "\n"); n != 1 {
				t.Fatalf("%d records, want one:\n%s", n, log.String())
			}
			got := records(t, &log)["work"]
			if got["status"] != tt.status || got["error.type"] != tt.kind || got["n"] != 2.0 || strings.Count(log.String(), `"n"`) != 1 {
				t.Errorf("record = %v", got)
			}
		})
	}
}

func TestTracer_SeparateTraces(t *testing.T) {
	var log bytes.Buffer
	tracer := trace.New(slog.New(slog.NewJSONHandler(&log, nil)))
	_, a := tracer.Start(t.Context(), "a")
	_, b := tracer.Start(t.Context(), "b")
	a.End(nil)
	b.End(nil)
	got := records(t, &log)
	if got["a"]["trace_id"] == got["b"]["trace_id"] {
		t.Error("two roots share a trace")
	}
	if _, has := got["a"]["parent_span_id"]; has {
		t.Error("a root has a parent")
	}
}

func TestSpan_Concurrent(t *testing.T) {
	var log bytes.Buffer
	tracer := trace.New(slog.New(slog.NewJSONHandler(&log, nil)))
	ctx, root := tracer.Session(t.Context(), "ses_1")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			root.Set(slog.Int(fmt.Sprint(i), i))
			_, span := tracer.Tool(ctx, "read", fmt.Sprint(i))
			span.End(nil)
			root.End(nil)
		})
	}
	wg.Wait()
	if n := strings.Count(log.String(), "\n"); n != 9 {
		t.Errorf("%d records, want 9", n)
	}
}

// off does with a tracer that is off what a turn does with one.
func off(ctx context.Context, tracer *trace.Tracer) {
	ctx, session := tracer.Session(ctx, "ses_1")
	ctx, turn := tracer.Turn(trace.WithSpan(ctx, session), "trn_1", "main")
	_, chat := tracer.Chat(ctx, "small")
	chat.Tokens(1000, 2000)
	chat.Finish("stop")
	chat.End(nil)
	_, tool := tracer.Tool(ctx, "read", "call_1")
	tool.Set(slog.Int("n", 1000))
	tool.Fail("denied")
	tool.End(context.Canceled)
	_, permission := tracer.Permission(ctx, "read")
	permission.Verdict("deny")
	permission.End(nil)
	_, compaction := tracer.Compaction(ctx)
	compaction.End(nil)
	_, own := tracer.Start(ctx, "own", slog.String("k", "v"))
	own.End(nil)
	turn.End(nil)
	session.End(nil)
}

func TestTracer_OffAllocatesNothing(t *testing.T) {
	tracer := trace.New(nil)
	if tracer.Enabled() {
		t.Fatal("a tracer without a log is on")
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { off(ctx, tracer) }); n != 0 {
		t.Errorf("a turn made %v allocations, want none", n)
	}
}

func BenchmarkTracer_Off(b *testing.B) {
	b.ReportAllocs()
	ctx := context.Background()
	for b.Loop() {
		off(ctx, nil)
	}
}

func BenchmarkTracer_Tool(b *testing.B) {
	tracer := trace.New(slog.New(slog.NewJSONHandler(&bytes.Buffer{}, nil)))
	b.ReportAllocs()
	for b.Loop() {
		_, span := tracer.Tool(b.Context(), "read", "call_1")
		span.End(nil)
	}
}
