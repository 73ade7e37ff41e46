package pipeline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

// served is a tool of an MCP server.
func served(id, description string) tools.Tool {
	tool := tooltest.NewMock("x", "answered").Tool
	tool.ID, tool.Description, tool.Source = id, description, tools.Source{Kind: tools.MCP, Server: "s"}
	tool.Parameters = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
		"query": {Type: "string", Description: strings.Repeat("What to look for. ", 10)},
	}}
	return tool
}

// R87: five hundred tools of servers cost a request no more than 1 KB over none.
func TestAdopt_ManyToolsCostLittle(t *testing.T) {
	var many []tools.Tool
	for i := range 500 {
		many = append(many, served(fmt.Sprintf("mcp__s__tool-%d", i), strings.Repeat("Long. ", 100)))
	}
	size := func(more ...tools.Tool) (*stage, int) {
		s := newStage(t, func(o *pipeline.Options) {
			o.Deferral, o.Gate = pipeline.Deferral{Threshold: 20, Size: 4 << 10, Always: kinds.Locked()}, tools.Gate{AllowMCP: true}
		}, append(hidden(), more...)...)
		raw, err := json.Marshal(s.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		return s, len(raw)
	}
	_, before := size()
	s, after := size(many...)
	if grown := after - before; grown > 1<<10+64 || grown < 1000 { // 1 KB of names, and how they are called
		t.Errorf("the request grew by %d bytes", grown)
	}
	s.Policy.Remember(allow("mcp__s__tool-3"))
	want(t, s.call(t, "mcp__s__tool-3", object{}), transcript.Done, "answered")
	want(t, s.call(t, "mcp__s__tool-3", object{"query": []int{1}}), transcript.Failed, "the arguments of mcp__s__tool-3, as a JSON Schema: {")
	if end := s.call(t, "zither", object{}); len(end.Text) > 2000 {
		t.Errorf("an unknown name is answered with %d bytes", len(end.Text))
	}
	want(t, s.call(t, "tool_search", object{"query": "tool-3"}), transcript.Done, strings.Repeat("Long. ", 99))
}

// R90: the request holds at most 200 characters of what a server says of a tool.
func TestAdopt_DescriptionsAreCut(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) { o.Gate = tools.Gate{AllowMCP: true} })
	more, _ := s.Tools().With(served("mcp__s__long", strings.Repeat("é", 1000)))
	s.Adopt(more)
	for _, tool := range s.Catalog() {
		if n := len([]rune(tool.Description)); tool.Name == "mcp__s__long" && n != 200 {
			t.Errorf("%d characters", n)
		}
	}
}

// R91, R138: tools come and go between turns. The list stays as it is; what came, changed
// and went is announced once, as long as the conversation says so, and called by name.
func TestAdopt_ToolsComeAndGo(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral, o.Gate = pipeline.Deferral{Threshold: 20, Size: 1 << 10, Always: kinds.Locked()}, tools.Gate{AllowMCP: true}
		o.Policy.Remember(allow("mcp__s__one"))
	}, hidden()...)
	base := s.Tools()
	var conversation []string
	says := func(text string) bool { return slices.Contains(conversation, text) }
	announced := func(wants ...string) {
		t.Helper()
		text := s.Announce(nil, says)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not announced in:\n%s", want, text)
			}
		}
		if len(wants) == 0 && text != "" {
			t.Errorf("announced:\n%s", text)
		}
		conversation = append(conversation, text)
	}
	adopt := func(more ...tools.Tool) {
		registry, _ := base.With(more...)
		s.Adopt(registry)
	}
	announced()
	before := s.Catalog()

	adopt(served("mcp__s__one", "Zither one."), served("mcp__s__two", "Another."))
	announced("further tools", "- mcp__s__one: Zither one. Arguments, as a JSON Schema: {", "- mcp__s__two: Another.")
	announced()
	want(t, s.call(t, "mcp__s__one", object{}), transcript.Done, "answered")

	conversation = nil // it was withdrawn, or cleared
	announced("further tools", "- mcp__s__two")

	adopt(served("mcp__s__one", "Zither, changed."))
	announced("others than you were told:\n- mcp__s__one: Zither, changed.", "are gone, and calls of them fail: mcp__s__two")
	want(t, s.call(t, "mcp__s__two", object{}), transcript.Failed, "unknown tool")

	adopt()
	announced("are gone, and calls of them fail: mcp__s__one")
	adopt(served("mcp__s__one", "Zither one."), served("mcp__s__long", strings.Repeat("é", 1000)), served("mcp__s__more", strings.Repeat("é", 1000)))
	announced("- MCP server s, each name after mcp__s__: one, long, more")
	if diff := cmp.Diff(before, s.Catalog()); diff != "" {
		t.Errorf("the list has changed (-want +got):\n%s", diff)
	}
}

// A server that cannot be reached is announced, and so is its return.
func TestAnnounce_ServersAway(t *testing.T) {
	s := newStage(t, nil, served("mcp__s__one", "Zither one."))
	var conversation []string
	for _, step := range []struct {
		away []string
		want string
	}{
		{nil, ""},
		{[]string{"s"}, "The MCP server s cannot be reached now: calls of its tools fail until it is back."},
		{[]string{"s"}, ""},
		{nil, "The MCP server s can be reached again."},
		{nil, ""},
	} {
		text := s.Announce(step.away, func(text string) bool { return slices.Contains(conversation, text) })
		if (text == "") != (step.want == "") || !strings.Contains(text, step.want) {
			t.Errorf("away %q: announced %q, want %q", step.away, text, step.want)
		}
		conversation = append(conversation, text)
	}
}

// What a mode keeps out is announced when the mode has ended; without tool_search all that
// is deferred is.
func TestAnnounce_ModeAndSearch(t *testing.T) {
	mode := &modePolicies{now: pipeline.ModePolicy{Mode: "plan", ReadOnly: true, Gate: tools.Gate{IncludeTools: []string{"read"}}}}
	s := newStage(t, func(o *pipeline.Options) {
		sessionOf(o).modePolicy, o.Deferral = mode.get, pipeline.Deferral{Threshold: 20, Size: 1 << 10, Always: []string{"read"}}
		o.Gate = tools.Gate{AllowMCP: true, IncludeTools: []string{"read"}}
	})
	more, _ := s.Tools().With(served("mcp__s__one", strings.Repeat("long ", 500)), served("mcp__s__two", strings.Repeat("long ", 500)), served("mcp__s__three", strings.Repeat("long ", 500)))
	s.Adopt(more)
	none := func(string) bool { return false }
	if text := s.Announce(nil, none); text != "" {
		t.Errorf("in the mode: announced %q", text)
	}
	mode.set(everything)
	if text := s.Announce(nil, none); !strings.Contains(text, "each name after mcp__s__: one, two, three") {
		t.Errorf("after the mode: announced %q", text)
	}
}

// M4: a tool of a server takes no name of ours, nor an alias.
func TestRegistry_With(t *testing.T) {
	s := newStage(t, nil)
	greedy := served("mcp__s__greedy", "Takes names.")
	greedy.Aliases = []tools.Alias{{Name: "read"}, {Name: "s_greedy"}}
	foreign := served("read", "Not ours.")
	more, refused := s.Tools().With(greedy, foreign)
	if len(refused) != 1 || !strings.Contains(refused[0].Error(), "already belongs to read") {
		t.Errorf("refused %v", refused)
	}
	for name, want := range map[string]string{"read": "read", "s_greedy": "mcp__s__greedy"} {
		if got := more.Canonical(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if entry, _ := more.Get("read"); entry.Foreign() {
		t.Error("read is another's")
	}
	if _, there := s.Tools().Get("mcp__s__greedy"); there {
		t.Error("the registry that was extended has changed")
	}
}

// Where the model server takes calls of listed tools alone, an announced tool stands in the
// request that it is announced in, behind those of the requests before.
func TestAnnounce_ListedOnly(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral = pipeline.Deferral{Threshold: 20, Size: 1 << 10, Always: kinds.Locked()}
		sessionOf(o).listedOnly = func() bool { return true }
		o.Gate = tools.Gate{AllowMCP: true}
	}, hidden()...)
	before := s.Catalog()
	more, _ := s.Tools().With(served("mcp__s__one", "Zither one."))
	s.Adopt(more)
	if text := s.Announce(nil, func(string) bool { return false }); !strings.Contains(text, "- mcp__s__one: Zither one.") || strings.Contains(text, "although they are not listed") {
		t.Errorf("announced %q", text)
	}
	after := s.Catalog()
	if diff := cmp.Diff(before, after[:len(after)-1]); diff != "" || after[len(after)-1].Name != "mcp__s__one" {
		t.Errorf("listed %q (-before +after):\n%s", names(after), diff)
	}
}

// A session may go on with a server that takes calls of listed tools alone, or learn late that
// its own is one. The model is told once; what it was shown before is listed, each tool once
// and as it is by then.
func TestAnnounce_ListedOnlyFromNowOn(t *testing.T) {
	only := false
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral = pipeline.Deferral{Threshold: 20, Size: 1 << 8, Always: kinds.Locked()}
		sessionOf(o).listedOnly = func() bool { return only }
		o.Gate = tools.Gate{AllowMCP: true}
	}, hidden()...)
	base := s.Tools()
	more, _ := base.With(served("mcp__s__one", "Zither one."))
	s.Adopt(more)
	before := s.Catalog()
	want(t, s.call(t, "tool_search", object{"query": "zither"}), transcript.Done, "mcp__s__one")
	if diff := cmp.Diff(before, s.Catalog()); diff != "" {
		t.Errorf("the list of a server that takes any call has changed:\n%s", diff)
	}

	only = true
	changed, _ := base.With(served("mcp__s__one", "Zither two."))
	s.Adopt(changed)
	var said []string
	for _, wanted := range []string{"Other than you were told, only the tools of your list can be called now", ""} {
		text := s.Announce(nil, func(text string) bool { return slices.Contains(said, text) })
		if said = append(said, text); text == "" != (wanted == "") || !strings.Contains(text, wanted) {
			t.Errorf("announced %q, want %q", text, wanted)
		}
	}
	after := s.Catalog()
	if diff := cmp.Diff(before, after[:len(before)]); diff != "" || len(after) != len(before)+1 || after[len(before)].Description != "Zither two." {
		t.Errorf("listed %q (-before +after):\n%s", names(after), diff)
	}
}
