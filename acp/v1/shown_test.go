package v1

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// editorPair is what two sorts of editors show of a call: one that replaces the card by the call
// in a permission request, and one that does not.
type editorPair struct {
	t              *testing.T
	replacing, own map[string]any
}

func (c *editorPair) apply(call map[string]any, own bool) {
	for _, name := range []string{"title", "kind", "status", "locations", "content"} {
		value, sent := call[name]
		if !sent {
			continue
		}
		c.replacing[name] = value
		if own {
			c.own[name] = value
		}
	}
}

func (c *editorPair) updates(r *recorder) {
	for _, line := range r.lines() {
		var call map[string]any
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			c.t.Fatal(err)
		}
		c.apply(call, true)
	}
}

// ask shows a permission request and returns its content.
func (c *editorPair) ask(tr *translator, req tools.PermissionRequest) []any {
	raw, err := json.Marshal(tr.request(req))
	if err != nil {
		c.t.Fatal(err)
	}
	var call map[string]any
	if err := json.Unmarshal(raw, &call); err != nil {
		c.t.Fatal(err)
	}
	c.apply(call, false)
	content, _ := call["content"].([]any)
	return content
}

// same fails unless both show the same content, of the wanted types.
func (c *editorPair) same(when string, want ...string) {
	c.t.Helper()
	shown := func(card map[string]any) map[string]any {
		card = maps.Clone(card)
		for name, value := range card {
			if list, ok := value.([]any); ok && len(list) == 0 {
				delete(card, name)
			}
		}
		return card
	}
	if diff := cmp.Diff(shown(c.own), shown(c.replacing)); diff != "" {
		c.t.Errorf("%s: an editor that replaces cards by requests (-other +it):\n%s", when, diff)
	}
	var types []string
	content, _ := c.replacing["content"].([]any)
	for _, block := range content {
		types = append(types, block.(map[string]any)["type"].(string))
	}
	if diff := cmp.Diff(want, types); diff != "" {
		c.t.Errorf("%s: the card (-want +got):\n%s", when, diff)
	}
}

// Every editor shows the same of a call once it runs and when it has ended, whatever the user
// was asked about it, however often, and whatever the answer.
func TestRequest_CountsAsShown(t *testing.T) {
	execute := kinds.Card{Kind: kinds.Execute, Title: "make"}
	edit := kinds.Card{Kind: kinds.Edit, Title: "Edit a.go", Locations: []kinds.Location{{Path: "/w/a.go"}}}
	with := func(card kinds.Card, content ...kinds.Content) kinds.Card {
		card.Content = content
		return card
	}
	diff := func(text string) kinds.Content { return kinds.Diff{Path: "/w/a.go", New: text} }
	aside := with(kinds.Card{Kind: kinds.Execute, Title: "make", Locations: []kinds.Location{{Path: "/w/.envrc"}}}, diff("new"))
	tests := []struct {
		name    string
		client  client
		tool    string
		card    kinds.Card
		asked   []kinds.Card // one request each
		first   []string     // the content of the first request
		running []string     // nil: it never runs
		again   bool         // asked once more while it runs
		state   transcript.State
		end     kinds.Card
		text    string
		ended   []string
	}{
		{"a terminal", client{agentTerminals: true}, "bash", execute, []kinds.Card{execute}, []string{"terminal", "content"}, []string{"terminal"}, false, transcript.Done, execute, "ok", []string{"terminal"}},
		{"a terminal, rejected", client{agentTerminals: true}, "bash", execute, []kinds.Card{execute}, []string{"terminal", "content"}, nil, false, transcript.Rejected, execute, "no", []string{"terminal", "content"}},
		{"a terminal, asked again", client{agentTerminals: true}, "bash", execute, []kinds.Card{execute, execute}, []string{"terminal", "content"}, []string{"terminal"}, true, transcript.Done, execute, "ok", []string{"terminal"}},
		{"a command as text", client{}, "bash", execute, []kinds.Card{execute}, []string{"content"}, []string{}, true, transcript.Done, execute, "ok", []string{"content"}},
		{"an edit whose preview changes", client{}, "edit", edit, []kinds.Card{with(edit, diff("a")), with(edit, diff("b"))}, []string{"diff", "content"}, []string{"diff"}, false, transcript.Done, with(edit, diff("b")), "", []string{"diff"}},
		{"an edit, rejected", client{}, "edit", edit, []kinds.Card{with(edit, diff("a"))}, []string{"diff", "content"}, nil, false, transcript.Rejected, with(edit, diff("a")), "no", []string{"content", "diff"}},
		{"an edit, dismissed", client{}, "edit", edit, []kinds.Card{with(edit, diff("a"))}, []string{"diff", "content"}, nil, false, transcript.Cancelled, edit, "dismissed", []string{"content"}},
		{"a tool of an MCP server", client{}, "mcp__a__b", kinds.Card{Kind: kinds.Other, Title: "a: b"}, []kinds.Card{{Kind: kinds.Other, Title: "a: b"}}, []string{"content"}, []string{}, false, transcript.Done, kinds.Card{Kind: kinds.Other, Title: "a: b"}, "", []string{"content"}},
	}
	for _, tt := range tests {
		for _, below := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				inTurn(t, tt.client, func(t *testing.T, tr *translator, r *recorder) {
					emit, agents := tr.Emit, []string(nil)
					if below {
						delegate(tr.Emit, "call_9", false, "explore")
						emit, agents = within(tr, "call_9"), []string{"explore"}
						r.take()
					}
					c := &editorPair{t: t, replacing: map[string]any{}, own: map[string]any{}}
					emit(transcript.ToolStarted{CallID: "call_1", Name: tt.tool, Tool: tt.tool, Card: label(tt.tool)})
					emit(transcript.ToolReady{CallID: "call_1", Tool: tt.tool, Args: []byte(`{"cmd":"make"}`), Card: tt.card})
					c.updates(r)
					request := func(card kinds.Card) []any {
						return c.ask(tr, tools.PermissionRequest{CallID: "call_1", Name: tt.tool, Agents: agents, Reason: "so", Ready: transcript.ToolReady{Card: card}})
					}
					for i, card := range tt.asked {
						emit(transcript.ToolState{CallID: "call_1", State: transcript.BlockedOnUser})
						content := request(card)
						if i == 0 {
							var types []string
							for _, block := range content {
								types = append(types, block.(map[string]any)["type"].(string))
							}
							if diff := cmp.Diff(tt.first, types); diff != "" {
								t.Errorf("the request (-want +got):\n%s", diff)
							}
						}
					}
					if tt.running != nil {
						emit(transcript.ToolState{CallID: "call_1", State: transcript.InProgress})
						c.updates(r)
						c.same("running", append([]string(nil), tt.running...)...)
					}
					if tt.again {
						request(aside)
						emit(transcript.ToolState{CallID: "call_1", State: transcript.InProgress})
						c.updates(r)
						c.same("running on", append([]string(nil), tt.running...)...)
					}
					emit(transcript.ToolFinished{CallID: "call_1", State: tt.state, Card: tt.end, Text: tt.text})
					c.updates(r)
					c.same("ended", tt.ended...)
				})
			})
		}
	}
}
