package pipeline_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

func names(list []model.Tool) []string {
	var ids []string
	for _, tool := range list {
		ids = append(ids, tool.Name)
	}
	return ids
}

// hidden are more tools than the catalogue holds.
func hidden() []tools.Tool {
	var list []tools.Tool
	for i := range 12 {
		tool := tooltest.NewMock(fmt.Sprintf("gadget_%d", i), "done").Tool
		tool.Description = fmt.Sprintf("Gadget number %d for polishing.", i)
		list = append(list, tool)
	}
	return append(list, tooltest.NewMock("frobnicate", "frobbed").Tool)
}

func TestCatalog_Deferral(t *testing.T) {
	tests := []struct {
		name     string
		deferral pipeline.Deferral
		listed   []string
		absent   []string
	}{
		{"off", pipeline.Deferral{}, []string{"read", "gadget_3", "frobnicate"}, nil},
		{"not over the threshold", pipeline.Deferral{Threshold: 1000}, []string{"gadget_3"}, nil},
		{"over the threshold", pipeline.Deferral{Threshold: 20, Always: kinds.Locked()}, []string{"read", "bash", "tool_search"}, []string{"gadget_3", "frobnicate"}},
		{"the locked ones do not count", pipeline.Deferral{Threshold: 21, Always: kinds.Locked()}, []string{"gadget_3"}, nil},
		{"small enough", pipeline.Deferral{Threshold: 1000, Size: 64 << 10, Always: kinds.Locked()}, []string{"gadget_3"}, nil},
		{"too large", pipeline.Deferral{Threshold: 1000, Size: 1 << 10, Always: kinds.Locked()}, []string{"read"}, []string{"gadget_3", "apply_patch"}},
		{"what can only fail", pipeline.Deferral{}, nil, []string{"question", "web_search", "skill", "task", "lsp", "check", "oracle"}},
		{"named ones stand", pipeline.Deferral{Threshold: 20, Always: []string{"frobnicate"}}, []string{"frobnicate"}, []string{"gadget_3"}},
		{"activated before", pipeline.Deferral{Threshold: 20, Activated: []string{"gadget_3"}}, []string{"gadget_3"}, []string{"gadget_4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, func(o *pipeline.Options) { o.Deferral = tt.deferral }, hidden()...)
			got := names(s.Catalog())
			for _, id := range tt.listed {
				if !slices.Contains(got, id) {
					t.Errorf("%s is not listed", id)
				}
			}
			for _, id := range tt.absent {
				if slices.Contains(got, id) {
					t.Errorf("%s is listed", id)
				}
			}
		})
	}
}

// A deferred tool is named, found, and called by its name, and the requests stay the same,
// byte for byte (R87, R138).
func TestCatalog_DeferredToolsAreCalledByName(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral = pipeline.Deferral{Threshold: 20, Always: kinds.Locked()}
		o.Policy.Remember(allow("frobnicate"))
	}, hidden()...)
	before := s.Catalog()
	for _, tool := range before {
		if tool.Name == "tool_search" && !strings.Contains(tool.Description, "\n- built in: apply_patch, ") {
			t.Errorf("its description is %q", tool.Description)
		}
	}
	want(t, s.call(t, "frobnicate", object{}), transcript.Done, "frobbed")
	want(t, s.call(t, "frobnicate", object{}), transcript.Done, "frobbed")
	want(t, s.call(t, "tool_search", object{"query": "frobnicate"}), transcript.Done, `Arguments of frobnicate, as a JSON Schema: {"type":"object"`)
	want(t, s.call(t, "frobnicate", object{}), transcript.Done, "frobbed")
	if diff := cmp.Diff(before, s.Catalog()); diff != "" {
		t.Errorf("the catalogue has changed (-want +got):\n%s", diff)
	}
}

// Arguments that do not fit a tool that is not in the list are answered with its schema, and
// those of a listed one are not (R87).
func TestCatalog_WrongArgumentsOfDeferredTools(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral = pipeline.Deferral{Threshold: 20, Always: kinds.Locked()}
	}, hidden()...)
	s.Catalog()
	schema := `the arguments of view_image, as a JSON Schema: {"type":"object","properties":{"path":`
	want(t, s.call(t, "view_image", object{"pth": "x"}), transcript.Failed, schema)
	want(t, s.call(t, "view_image", object{"path": 1, "also": 2}), transcript.Failed, schema)
	if end := s.call(t, "read", object{"pth": "x"}); strings.Contains(end.Text, "JSON Schema") {
		t.Errorf("a listed tool answers %q", end.Text)
	}
}

// Where the model server takes calls of listed tools alone, what a search finds is listed
// from the next model request on, and not before (R87, trap 49).
func TestCatalog_FoundToolsAreListedAtTheNextRequest(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral = pipeline.Deferral{Threshold: 20, Always: kinds.Locked()}
		sessionOf(o).listedOnly = func() bool { return true }
		o.Policy.Remember(allow("frobnicate"))
	}, hidden()...)
	before := names(s.Catalog())
	want(t, s.call(t, "tool_search", object{"query": "frobnicate"}), transcript.Done, "frobnicate")

	after := names(s.Catalog())
	if diff := cmp.Diff(append(before, "frobnicate"), after); diff != "" {
		t.Errorf("the catalogue after the search (-want +got):\n%s", diff)
	}
	want(t, s.call(t, "frobnicate", object{}), transcript.Done, "frobbed")
	if !slices.ContainsFunc(s.events, func(e transcript.Event) bool {
		activated, ok := e.(transcript.ToolsActivated)
		return ok && slices.Equal(activated.IDs, []string{"frobnicate"})
	}) {
		t.Error("the transcript does not say that frobnicate was activated")
	}
}

// A tool that is already listed does not hold back the others.
func TestCatalog_FloorCountsFromWhatIsDeferred(t *testing.T) {
	strong, weak := tooltest.NewMock("zither_quux_tune", "").Tool, tooltest.NewMock("other", "").Tool
	strong.Description, weak.Description = "Zither quux tune.", "Does many things, of which one in the end is to tune."
	s := newStage(t, func(o *pipeline.Options) {
		o.Deferral = pipeline.Deferral{Threshold: 20, Always: kinds.Locked()}
		sessionOf(o).listedOnly = func() bool { return true }
	}, append(hidden(), strong, weak)...)
	want(t, s.call(t, "tool_search", object{"query": "zither quux tune"}), transcript.Done, "zither_quux_tune")
	if slices.Contains(names(s.Catalog()), "other") {
		t.Fatal("the weak hit was found with the strong one")
	}
	want(t, s.call(t, "tool_search", object{"query": "zither quux tune"}), transcript.Done, "other")
	if !slices.Contains(names(s.Catalog()), "other") {
		t.Error("the weak hit is not found when the strong one is listed")
	}
}

func TestGate(t *testing.T) {
	source := func(id, kind string, types ...string) tools.Tool {
		tool := tooltest.NewMock(id, "done").Tool
		tool.Source, tool.SubagentTypes = tools.Source{Kind: kind, Server: "s"}, types
		return tool
	}
	extra := []tools.Tool{
		source("mcp__s__look", tools.MCP), source("tb__free", tools.Toolbox), source("tb__all", tools.Toolbox, "all"),
		source("tb__fix", tools.Toolbox, "fix"), source("offered", tools.Provider),
	}
	tests := []struct {
		name string
		gate tools.Gate
		want []string
	}{
		{"none", tools.Gate{IncludeTools: []string{}}, nil},
		{"native", tools.Gate{IncludeTools: []string{"read", "Bash"}}, []string{"bash", "read"}},
		{"mcp", tools.Gate{IncludeTools: []string{}, AllowMCP: true}, []string{"mcp__s__look"}},
		{"toolbox", tools.Gate{IncludeTools: []string{}, AllowToolbox: true}, []string{"offered", "tb__all", "tb__fix", "tb__free"}},
		{
			"toolbox of one type",
			tools.Gate{IncludeTools: []string{}, AllowToolbox: true, SubagentType: "fix"},
			[]string{"tb__all", "tb__fix"},
		},
		{
			"toolbox of another type",
			tools.Gate{IncludeTools: []string{}, AllowToolbox: true, SubagentType: "explore"},
			[]string{"tb__all"},
		},
		{
			"toolbox that is named, and does not say for which type it is",
			tools.Gate{IncludeTools: []string{"read", "tb__free", "offered", "tb__fix"}, AllowToolbox: true, SubagentType: "explore"},
			[]string{"offered", "read", "tb__all", "tb__free"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, func(o *pipeline.Options) { o.Gate = tt.gate }, extra...)
			got := names(s.Catalog())
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			for _, id := range []string{"mcp__s__look", "tb__fix", "grep"} {
				if end := s.call(t, id, object{}); !slices.Contains(tt.want, id) && (end.State != transcript.Rejected || end.Result.Error.DeniedBy != "enablement") {
					t.Errorf("%s ended as %q (%s), want it refused by the gate", id, end.State, end.Text)
				}
			}
		})
	}
}

// A kind that a tool from elsewhere declares is shown when it is one (section C).
func TestDescribe_DeclaredKind(t *testing.T) {
	for declared, want := range map[kinds.Kind]kinds.Kind{kinds.Search: kinds.Search, "sparkle": kinds.Other, "": kinds.Other} {
		tool := tooltest.NewMock("tb__x", "done").Tool
		tool.Kind = declared
		s := newStage(t, nil, tool)
		if got := s.Prepare(pipeline.Call{ID: "call_1", Name: "tb__x", Input: "{}"}).Card.Kind; got != want {
			t.Errorf("declared %q is shown as %q, want %q", declared, got, want)
		}
	}
}

func TestCancel_OneCallOfSeveral(t *testing.T) {
	started := make(chan struct{})
	s := customStage(t, tools.Spec{Profile: &tools.Profile{}}, func(ctx context.Context, _ tools.Runtime) (*tools.Result, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ended := make(chan transcript.ToolFinished)
	go func() { ended <- s.call(t, "custom", object{}) }()
	<-started
	active := s.Active()
	if len(active) != 1 || active[0].ID != "call_1" || active[0].Tool != "custom" || active[0].Started.IsZero() {
		t.Errorf("active calls = %+v", active)
	}
	if s.Cancel("call_9") {
		t.Error("a call that is not there was cancelled")
	}
	if !s.Cancel("call_1") {
		t.Error("the running call was not found")
	}
	want(t, <-ended, transcript.Cancelled, "cancelled by the user")
	if active := s.Active(); len(active) != 0 {
		t.Errorf("active calls at the end = %+v", active)
	}
	s.write(t, "a.txt", "text\n")
	want(t, s.call(t, "read", object{"path": "a.txt"}), transcript.Done, "text")
}

// An unknown name is answered with the tools that this agent can use, and with no others
// (R9, R11).
func TestPrepare_UnknownNameListsWhatIsOffered(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Gate = tools.Gate{IncludeTools: []string{"read", "grep", "web_search"}, SubagentType: "explore"}
	})
	want(t, s.call(t, "frobnicate", object{}), transcript.Failed, "the tools are read, grep")
	for _, name := range []string{"bash_it", "frobnicate"} {
		if end := s.call(t, name, object{}); strings.Contains(end.Text, "bash,") || strings.Contains(end.Text, "mean bash") || strings.Contains(end.Text, "web_search") {
			t.Errorf("%s is answered with %q", name, end.Text)
		}
	}
}
