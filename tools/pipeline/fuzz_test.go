package pipeline_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// FuzzTruncate cuts results of any text and data at any cap: what is shown is
// valid, bounded, and the beginning of the whole, which is in the sidecar; at
// the cap nothing is cut (R105, R106, R108).
func FuzzTruncate(f *testing.F) {
	f.Add("short", 10, false)
	f.Add(strings.Repeat("é", 40), 33, false)
	f.Add(strings.Repeat("x", 64), 64, true)
	f.Add(`["a","b","c","d"]`, 3, true)
	f.Add(`{"a":1,"b":"`+strings.Repeat("y", 90)+`"}`, 20, true)
	f.Add("\xff\xfe tail", 1, false)
	dir := f.TempDir()
	work, err := workspace.New(workspace.Options{SessionID: "ses_fuzz", Directories: workspace.Directories{Cwd: dir, State: dir + "/state"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { work.Close(0) })
	f.Fuzz(func(t *testing.T, text string, limit int, structured bool) {
		limit = 1 + (limit%4096+4096)%4096
		var data any = text
		if raw := json.RawMessage(text); structured && json.Valid(raw) {
			data = raw
		}
		tool := custom(tools.Spec{}, func(context.Context, tools.Runtime) (*tools.Result, error) { return tools.Output(data), nil })
		registry, err := tools.NewRegistry(tool)
		if err != nil {
			t.Fatal(err)
		}
		limits := tools.CanonicalLimits()
		limits.ResultBytes = limit
		p := pipeline.New(pipeline.Options{
			Toolset: pipeline.Toolset{Registry: registry}, Workspace: work, Limits: limits,
			Judges: pipeline.Judges{Policy: pipeline.NewPolicy(permissions.Set{}.With(permissions.DefaultScope, allow("custom")))},
		})
		end := p.Run(t.Context(), p.Prepare(pipeline.Call{ID: "call_1", Name: "custom", Input: "{}"}), transcript.Discard)
		if end.State != transcript.Done {
			t.Fatalf("ended as %q: %s", end.State, end.Text)
		}
		whole := (&tools.Result{Data: data}).ModelText()
		if !end.Result.Metadata.Truncated {
			if len(whole) > limit || end.Text != whole {
				t.Fatalf("%d bytes with a cap of %d were not cut: %q", len(whole), limit, end.Text)
			}
			return
		}
		if !json.Valid(end.Result.Data) || len(end.Result.Data) > 8*limit+20_000 {
			t.Fatalf("data: %d bytes, valid %v", len(end.Result.Data), json.Valid(end.Result.Data))
		}
		head, _, marked := strings.Cut(end.Text, "\n\n[Tool result truncated: ")
		if !marked || len(head) > limit || utf8.ValidString(whole) && !utf8.ValidString(head) {
			t.Fatalf("head of %d bytes, marked %v, valid %v, cap %d", len(head), marked, utf8.ValidString(head), limit)
		}
		kept, err := os.ReadFile(end.Result.Metadata.OutputPath)
		if err != nil || !strings.HasPrefix(string(kept), head) {
			t.Fatalf("the sidecar does not begin with the head: %v", err)
		}
		if err := os.Remove(end.Result.Metadata.OutputPath); err != nil {
			t.Fatal(err)
		}
	})
}
