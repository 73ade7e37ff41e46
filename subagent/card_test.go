package subagent_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/kinds"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// cardText returns the only block of a card.
func cardText(tb rapid.TB, content []kinds.Content) string {
	tb.Helper()
	if len(content) != 1 {
		tb.Fatalf("%d blocks", len(content))
	}
	return content[0].(kinds.Text).Text
}

func TestCard(t *testing.T) {
	start := time.Unix(1000, 0)
	record := func(change func(*transcript.ChildRecord)) transcript.ChildRecord {
		r := transcript.ChildRecord{
			Agent: "fix", Path: []string{"explore", "fix"}, State: transcript.ChildRunning, Queued: start, Started: start.Add(time.Second),
			Steps: 3, Calls: 2, Usage: transcript.Usage{Input: 12_000, Output: 345},
		}
		change(&r)
		return r
	}
	lines := []subagent.CardLine{
		{Title: "Read a.go", State: transcript.Done, Result: "120 lines"},
		{Title: "go test ./...", State: transcript.InProgress},
	}
	tests := []struct {
		name   string
		record transcript.ChildRecord
		lines  []subagent.CardLine
		want   string
	}{
		{
			"queued", record(func(r *transcript.ChildRecord) {
				*r = transcript.ChildRecord{Agent: "fix", State: transcript.ChildQueued, Queued: start}
			}), nil,
			"`fix` waits for its turn: 13s",
		},
		{
			"running", record(func(*transcript.ChildRecord) {}), lines,
			"`explore > fix` is running: 3 steps, 2 tool calls, 12k tokens, 12s\n\nNow: `go test ./...`\n\n" +
				"Tool calls:\n\n- `Read a.go` done: `120 lines`\n- `go test ./...` is running",
		},
		{
			"in the background, between calls", record(func(r *transcript.ChildRecord) { r.Background = true }), lines[:1],
			"`explore > fix` runs in the background: 3 steps, 2 tool calls, 12k tokens, 12s\n\nNow: waiting for the model\n\n" +
				"Tool calls:\n\n- `Read a.go` done: `120 lines`",
		},
		{
			"cancelled", record(func(r *transcript.ChildRecord) {
				r.State, r.Note, r.Ended = transcript.ChildCancelled, "stopped with `/tasks`", start.Add(4*time.Second)
			}), nil,
			"`explore > fix` was cancelled: 3 steps, 2 tool calls, 12k tokens, 3s\n\nNote: `stopped with '/tasks'`",
		},
		{
			"done", record(func(r *transcript.ChildRecord) {
				r.State, r.Output, r.Usage, r.Cost = transcript.ChildDone, "All ``` good.", transcript.Usage{Output: 1}, 0.01234
			}), nil,
			"`explore > fix` is done: 3 steps, 2 tool calls, 1 token, cost $0.01234, 12s\n\n````\nAll ``` good.\n````",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, cardText(t, subagent.Card(test.record, test.lines, start.Add(13*time.Second)))); diff != "" {
				t.Errorf("card (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinalCard(t *testing.T) {
	got := cardText(t, subagent.FinalCard(&tools.Delegated{
		Record: transcript.ChildRecord{
			Path: []string{"fix"}, State: transcript.ChildDone, Started: time.Unix(1000, 0), Ended: time.Unix(1061, 0), Output: "Done.",
		},
		Modified: []string{"/w/a.go", "/w/sub/b.go"},
	}, []subagent.CardLine{{Title: "Edit a.go", State: transcript.Done}}, kinds.Place{Cwd: "/w"}))
	want := "`fix` is done: 1m1s\n\n```\nDone.\n```\n\nChanged files:\n\n- `a.go`\n- `sub/b.go`\n\nTool calls:\n\n- `Edit a.go` done"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
}

// The card shows the last of many calls and the first of many files, and says how many are left
// out.
func TestCard_Many(t *testing.T) {
	var lines []subagent.CardLine
	var paths []string
	for i := range 30 {
		name := string(rune('A' + i))
		lines = append(lines, subagent.CardLine{Title: "Read " + name, State: transcript.Done})
		paths = append(paths, "/w/"+name)
	}
	got := cardText(t, subagent.FinalCard(&tools.Delegated{Modified: paths}, lines, kinds.Place{Cwd: "/w"}))
	for _, want := range []string{"18 earlier ones not shown", "- `Read S` done", "- and 10 more"} {
		if !strings.Contains(got, want) {
			t.Errorf("the card does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "`Read R`") || strings.Contains(got, "- `U`") {
		t.Errorf("the card lists too much:\n%s", got)
	}
}

// For any text of a model the card stays small and valid, and starts with acp-agent's own line.
// Text of a model appears only in lists and code blocks.
func TestCard_AnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching("[`\n]{0,60}"), rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"`", "é", "\U0001F600", "\u202e", "\n# "}).Draw(t, "unit"), rapid.IntRange(0, 9000).Draw(t, "n"))
		}))
		line := rapid.Custom(func(t *rapid.T) subagent.CardLine {
			return subagent.CardLine{Title: text.Draw(t, "title"), State: rapid.SampledFrom(transcript.States()).Draw(t, "state"), Result: text.Draw(t, "result")}
		})
		d := &tools.Delegated{
			Record: transcript.ChildRecord{
				Path: rapid.SliceOfN(text, 0, 5).Draw(t, "path"), Note: text.Draw(t, "note"), Output: text.Draw(t, "output"),
				State: rapid.SampledFrom([]transcript.ChildState{transcript.ChildRunning, transcript.ChildDone, transcript.ChildLost}).Draw(t, "child"),
			},
			Modified: rapid.SliceOfN(text, 0, 30).Draw(t, "modified"),
		}
		got := cardText(t, subagent.FinalCard(d, rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), kinds.Place{Cwd: "/w"}))
		if len(got) > 8<<10 || !utf8.ValidString(got) || kinds.Visible(got) != got {
			t.Fatalf("%d bytes, or not whole and visible", len(got))
		}
		if !strings.HasPrefix(got, "`") {
			t.Fatalf("the card begins with %.80q", got)
		}
	})
}
