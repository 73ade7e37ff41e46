package pipeline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

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
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral, o.Gate = pipeline.Deferral{Threshold: 20, Always: kinds.Locked()}, tools.Gate{AllowMCP: true}
	}, hidden()...)
	size := func() int {
		raw, err := json.Marshal(s.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		return len(raw)
	}
	before := size()
	var many []tools.Tool
	for i := range 500 {
		many = append(many, served(fmt.Sprintf("mcp__s__tool-%d", i), strings.Repeat("Long. ", 100)))
	}
	more, refused := s.Tools().With(many...)
	if refused != nil {
		t.Fatal(refused)
	}
	s.Adopt(more)
	if grown := size() - before; grown > 1<<10 {
		t.Errorf("the request grew by %d bytes", grown)
	}
	want(t, s.call(t, "mcp__s__tool-3", object{}), transcript.Failed, "is not loaded")
	if end := s.call(t, "zither", object{}); len(end.Text) > 2000 {
		t.Errorf("an unknown name is answered with %d bytes", len(end.Text))
	}
	want(t, s.call(t, "tool_search", object{"query": "tool-3"}), transcript.Done, strings.Repeat("Long. ", 99))
	if !slices.Contains(names(s.Catalog()), "mcp__s__tool-3") {
		t.Error("what was found cannot be called")
	}
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

// R91: tools come and go between turns; what the model was told of and what it found
// stays where it stood, and what is gone is unknown.
func TestAdopt_ToolsComeAndGo(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral, o.Gate = pipeline.Deferral{Threshold: 20, Always: kinds.Locked()}, tools.Gate{AllowMCP: true}
	}, hidden()...)
	base := s.Tools()
	before := names(s.Catalog())
	one, _ := base.With(served("mcp__s__zither_one", "Zither one."), served("mcp__s__other", "Another."))
	s.Adopt(one)
	if got := names(s.Catalog()); !slices.Equal(got, before) {
		t.Errorf("the catalogue became %v, was %v", got, before)
	}
	want(t, s.call(t, "tool_search", object{"query": "zither"}), transcript.Done, "zither_one")
	two, _ := base.With(served("mcp__s__new", "A new one."), served("mcp__s__zither_one", "Zither, changed."))
	s.Adopt(two)
	catalog := s.Catalog()
	if got := names(catalog); !slices.Equal(got, append(slices.Clone(before), "mcp__s__zither_one")) {
		t.Errorf("the catalogue became %v", got)
	}
	if last := catalog[len(catalog)-1]; last.Description != "Zither, changed." {
		t.Errorf("it is described as %q", last.Description)
	}
	want(t, s.call(t, "mcp__s__other", object{}), transcript.Failed, "unknown tool")
	s.Adopt(base)
	if got := names(s.Catalog()); !slices.Equal(got, before) {
		t.Errorf("at last %v", got)
	}
	want(t, s.call(t, "mcp__s__zither_one", object{}), transcript.Failed, "unknown tool")
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
