package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/internal/redact"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

func TestPipeline_ModelBytes(t *testing.T) {
	tests := []struct {
		name                      string
		most, window, used, calls int
		want                      int
	}{
		{"no bound by the window", 0, 8_192, 0, 1, 0},
		{"a large window", 30_720, 128_000, 0, 1, 30_720},
		{"no more of a larger one", 30_720, 1_000_000, 0, 1, 30_720},
		{"more by setting", 102_400, 128_000, 0, 1, 102_400},
		{"in proportion", 30_720, 32_000, 0, 1, 7_680},
		{"the least", 30_720, 8_192, 0, 1, 4_096},
		{"less by setting", 2_048, 8_192, 0, 1, 2_048},
		{"a window that is not known", 30_720, 0, 90_000, 1, 30_720},
		{"four calls have a quarter of the window", 30_720, 128_000, 0, 4, 30_720},
		{"ten calls share it", 30_720, 128_000, 0, 10, 12_800},
		{"half of what is free", 30_720, 128_000, 120_000, 1, 16_000},
		{"shared by two", 30_720, 128_000, 120_000, 2, 8_000},
		{"nothing is free", 30_720, 128_000, 130_000, 1, 256},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newStage(t, func(o *pipeline.Options) { o.Limits.ModelBytes = tt.most })
			if got := p.ModelBytes(tt.window, tt.used, tt.calls); got != tt.want {
				t.Errorf("ModelBytes(%d, %d, %d) = %d, want %d", tt.window, tt.used, tt.calls, got, tt.want)
			}
		})
	}
}

// numbered are lines of ten bytes.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%09d\n", i+1)
	}
	return b.String()
}

// within calls a tool of whose result the model is given size bytes.
func (s *stage) within(t *testing.T, size int, name, input string) transcript.ToolFinished {
	t.Helper()
	return s.Run(t.Context(), s.Prepare(pipeline.Call{ID: "call_1", Name: name, Input: input, ModelBytes: size}), s)
}

func TestModelBytes_ResultIsCutAndKept(t *testing.T) {
	text := numbered(5000)
	s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) { return tools.Output(text), nil })
	end := s.within(t, 1000, "custom", `{}`)
	want(t, end, transcript.Done, "000000050\n[49000 bytes left out here, too long for the model's window; the whole result is in ")
	if !strings.HasPrefix(end.Text, "000000001\n") || !strings.HasSuffix(end.Text, "\n000005000\n") {
		t.Errorf("the ends of the result are missing: %q", end.Text)
	}
	if whole, err := os.ReadFile(end.Result.Metadata.OutputPath); err != nil || string(whole) != text {
		t.Errorf("the file holds %d bytes (%v), want %d", len(whole), err, len(text))
	}
	if end.Shown != text || end.Result.Metadata.Truncated || len(end.Result.Data) < len(text) {
		t.Errorf("what the editor is shown (%d bytes) or the data (%d bytes) was cut", len(end.Shown), len(end.Result.Data))
	}
}

func TestModelBytes_ResultThatFits(t *testing.T) {
	s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return tools.Output(numbered(100)), nil
	})
	for _, size := range []int{0, 1000} {
		if end := s.within(t, size, "custom", `{}`); end.Text != numbered(100) || end.Shown != "" || end.Result.Metadata.OutputPath != "" {
			t.Errorf("with %d bytes, the result became %q", size, end.Text)
		}
	}
}

// What a tool has kept itself is not kept twice.
func TestModelBytes_FileOfTheTool(t *testing.T) {
	s := customStage(t, tools.Spec{OwnLimit: true}, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return &tools.Result{Text: numbered(500), Truncated: true, OutputPath: "/kept"}, nil
	})
	end := s.within(t, 1000, "custom", `{}`)
	want(t, end, transcript.Done, "the whole result is in /kept]")
	if end.Result.Metadata.OutputPath != "/kept" {
		t.Errorf("the result names %q", end.Result.Metadata.OutputPath)
	}
}

func TestModelBytes_ReadShowsTheRest(t *testing.T) {
	s := newStage(t, nil)
	s.write(t, "long.txt", numbered(400))
	end := s.within(t, 1000, "read", `{"path":"long.txt"}`)
	want(t, end, transcript.Done, "bytes left out here, too long for the model's window; read_range or byte_range shows it]\n")
	if end.Result.Metadata.OutputPath != "" {
		t.Errorf("a copy of the file is in %q", end.Result.Metadata.OutputPath)
	}
}

// A failure has a detail that can be as long as any output.
func TestModelBytes_Failure(t *testing.T) {
	s := customStage(t, tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return nil, &tools.Error{Kind: tools.Backend, Message: "broken", Detail: numbered(500)}
	})
	end := s.within(t, 1000, "custom", `{}`)
	want(t, end, transcript.Failed, "broken")
	want(t, end, transcript.Failed, "the whole result is in ")
	if len(end.Text) > 1300 {
		t.Errorf("the failure has %d bytes", len(end.Text))
	}
}

// The key stands where the text is cut: what is left of it must not be shown.
func TestModelBytes_KeyAtTheCut(t *testing.T) {
	const key = "sk-canary-0123456789"
	keys := &redact.Values{}
	keys.Add(key)
	text := strings.Repeat("a", 490) + key + strings.Repeat("b", 2000)
	s := newStage(t, func(o *pipeline.Options) { o.Keys = keys }, custom(tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return nil, &tools.Error{Kind: tools.Backend, Message: text}
	}))
	s.policy.Remember(permissions.Rule{Permission: "custom", Pattern: "*", Action: capability.Allow})
	if end := s.within(t, 1000, "custom", `{}`); strings.Contains(end.Text, key[:8]) {
		t.Errorf("a part of the key is shown: %q", end.Text)
	}
}
