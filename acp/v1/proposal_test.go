package v1

import (
	"strings"
	"testing"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// TestPropose holds what is said in the chat before a permission request: what the user has
// to read and the client does not show (R98, R152). Nothing is said twice.
func TestPropose(t *testing.T) {
	old := "one\n"
	plan := []kinds.Content{kinds.Text{Text: "Plan mode ends. The plan:"}, kinds.Text{Text: "1. edit a.go\n2. test it"}}
	diffs := []kinds.Content{
		kinds.Diff{Path: "/w/a.go", Old: &old, New: "two\n"},
		kinds.Diff{Path: "/w/b.go", Old: &old, New: "three\n"},
		kinds.Diff{Path: "/w/big.go", New: strings.Repeat("much\n", proposalBytes)},
	}
	tests := []struct {
		name   string
		editor string
		before string
		card   kinds.Card
		choice bool
		want   []string // parts of the one text; nil is none
		not    string
	}{
		{"a plan", "unknown", "", kinds.Card{Kind: kinds.SwitchMode, Content: plan}, false, []string{"Plan mode ends. The plan:\n\n1. edit a.go\n2. test it\n\n"}, ""},
		{"a plan that was said", "unknown", "So:\n\n1. edit a.go\n  2. test it", kinds.Card{Kind: kinds.SwitchMode, Content: plan}, false, []string{"\n\nPlan mode ends. The plan:\n\n"}, "1. edit"},
		{"a plan in a comment", "unknown", "So: <!--\n\n1. edit a.go\n2. test it\n\n-->", kinds.Card{Kind: kinds.SwitchMode, Content: plan}, false, []string{"1. edit a.go\n2. test it"}, ""},
		{"a plan in the title of a link", "unknown", "[Go](http://x '\n1. edit a.go\n2. test it\n')", kinds.Card{Kind: kinds.SwitchMode, Content: plan}, false, []string{"1. edit a.go\n2. test it"}, ""},
		{"a plan in a footnote", "unknown", "Go.\n\n[^1]: See\n\n    1. edit a.go\n    2. test it", kinds.Card{Kind: kinds.SwitchMode, Content: plan}, false, []string{"1. edit a.go\n2. test it"}, ""},
		{"a plan where it is shown", "zed", "", kinds.Card{Kind: kinds.SwitchMode, Content: plan}, false, nil, ""},
		{"trust", "unknown", "", kinds.Card{Content: plan[1:]}, true, []string{"1. edit a.go"}, ""},
		{"a preview", "unknown", "", kinds.Card{Kind: kinds.Fetch, Content: plan[1:]}, false, nil, ""},
		{"a patch", "unknown", "", kinds.Card{Kind: kinds.Edit, Content: diffs}, false, nil, ""},
		{
			"a patch where the first file is shown", "codecompanion.nvim", "",
			kinds.Card{Kind: kinds.Edit, Content: diffs},
			false,
			[]string{"several files", "the others:", "`/w/b.go`:\n\n```diff\n", "-one\n+three\n", "`/w/big.go`: the difference is too long"},
			"+two",
		},
		{"one file", "codecompanion.nvim", "", kinds.Card{Kind: kinds.Edit, Content: diffs[:1]}, false, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inTurn(t, client{traits: traitsOf(tt.editor)}, func(t *testing.T, tr *translator, r *recorder) {
				if tt.before != "" {
					startText(tr)
					say(tr, tt.before)
				}
				req := tools.PermissionRequest{CallID: "call_1", Ready: transcript.ToolReady{Card: tt.card}}
				if tt.choice {
					req.Choices = &tools.Choices{Question: "Trust this project", Allow: "Yes", Reject: "No"}
				}
				r.take()
				call := tr.request(req)
				if tt.choice && *call.Title != "Trust this project" {
					t.Errorf("title %q", *call.Title)
				}
				var said []string
				for _, n := range r.take() {
					said = append(said, n.text)
				}
				if len(said) != min(len(tt.want), 1) {
					t.Fatalf("said %q", said)
				}
				for _, part := range tt.want {
					if !strings.Contains(said[0], part) {
						t.Errorf("%q lacks %q", said[0], part)
					}
				}
				if tt.not != "" && strings.Contains(said[0], tt.not) {
					t.Errorf("%q has %q", said[0], tt.not)
				}
			})
		})
	}
}
