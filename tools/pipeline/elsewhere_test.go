package pipeline_test

import (
	"strconv"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

// elsewhere are tools of every source, each with what stands behind it.
func elsewhere() []tools.Tool {
	program := capability.RequirementSet{Capabilities: []string{capability.CapShellRun}}
	open := capability.Union(program, capability.RequirementSet{Net: capability.Net{Hosts: []string{"*"}}})
	host := capability.RequirementSet{Net: capability.Net{Hosts: []string{"tools.example"}}}
	tool := func(id, kind string, requires capability.RequirementSet, behind tools.Origin) tools.Tool {
		made := tooltest.NewMock("x", "done").Tool
		made.ID, made.Requires = id, requires
		made.Source = tools.Source{Kind: kind, Server: "s"}
		made.Origin = func() tools.Origin { return behind }
		return made
	}
	none := capability.RequirementSet{}
	return []tools.Tool{
		tool("mcp__s__row", tools.MCP, none, tools.Origin{Digest: "1"}),
		tool("mcp__far__row", tools.MCP, none, tools.Origin{Digest: "2", Remote: true}),
		tool("tb__word", tools.Toolbox, program, tools.Origin{Digest: "3"}),
		tool("tb__word_open", tools.Toolbox, open, tools.Origin{Digest: "4"}),
		tool("tb__unit__row", tools.Provider, program, tools.Origin{Digest: "5"}),
		tool("tb__unit_open__row", tools.Provider, open, tools.Origin{Digest: "6"}),
		tool("tb__far__row", tools.Provider, host, tools.Origin{Digest: "7", Remote: true}),
		tool("lint", tools.Module, program, tools.Origin{Digest: "8"}),
	}
}

// R10, R64, R92, M3: what an agent may do with tools from elsewhere, by its rules, those of
// the agent that delegated to it, and its level. No one is freer than the agent above, but
// by the user's word for this very agent.
func TestDelegate_ToolsFromElsewhere(t *testing.T) {
	const allow, ask, deny = capability.Allow, capability.Ask, capability.Deny
	allowed := []permissions.Rule{
		plainRule("mcp:*", "*", allow), plainRule("tb__*", "*", allow), plainRule("lint", "*", allow),
	}
	restricted := pipeline.PolicyDelegation{Restricted: true}
	given := pipeline.PolicyDelegation{Restricted: true, UserManifest: []permissions.Rule{
		plainRule("mcp:s:*", "*", allow), plainRule("mcp:far:row", "*", allow), plainRule("tb__far__row", "*", allow),
	}}
	denying := func(permission string) pipeline.PolicyDelegation {
		return pipeline.PolicyDelegation{Manifest: []permissions.Rule{plainRule(permission, "*", deny)}}
	}
	type verdicts [8]capability.Action // in the order of elsewhere
	tests := []struct {
		name       string
		mode       permissions.Mode
		user       []permissions.Rule
		delegation *pipeline.PolicyDelegation
		want       verdicts
	}{
		{"by default", permissions.ModeAsk, nil, nil, verdicts{ask, ask, ask, ask, ask, ask, ask, ask}},
		{"in mode auto", permissions.ModeAuto, nil, nil, verdicts{ask, ask, ask, ask, ask, ask, ask, ask}},
		{"below an agent in mode auto", permissions.ModeAuto, nil, &pipeline.PolicyDelegation{}, verdicts{ask, ask, ask, ask, ask, ask, ask, ask}},
		{"allowed by the user", permissions.ModeAsk, allowed, nil, verdicts{allow, allow, allow, allow, allow, allow, allow, allow}},
		{"the same below", permissions.ModeAsk, allowed, &pipeline.PolicyDelegation{}, verdicts{allow, allow, allow, allow, allow, allow, allow, allow}},
		{"restricted: the network is asked about or denied", permissions.ModeAsk, allowed, &restricted, verdicts{ask, ask, allow, deny, allow, deny, ask, allow}},
		{"restricted: by default", permissions.ModeAuto, nil, &restricted, verdicts{ask, ask, ask, deny, ask, deny, ask, ask}},
		{"restricted: the user's word for this agent", permissions.ModeAsk, nil, &given, verdicts{allow, allow, ask, deny, ask, deny, allow, ask}},
		{"no network by its manifest", permissions.ModeAsk, allowed, ptr(denying("net.fetch")), verdicts{deny, deny, allow, deny, allow, deny, deny, allow}},
		{"read-only by its manifest", permissions.ModeAsk, allowed, ptr(denying("fs.write")), verdicts{deny, allow, deny, deny, deny, deny, allow, deny}},
		{"no programs by its manifest", permissions.ModeAsk, allowed, ptr(denying("shell.run")), verdicts{deny, allow, deny, deny, deny, deny, allow, deny}},
		{"any file by its manifest", permissions.ModeAsk, allowed, ptr(denying("fs.*")), verdicts{deny, allow, deny, deny, deny, deny, allow, deny}},
		{"a server by its manifest", permissions.ModeAsk, allowed, ptr(denying("mcp:s:*")), verdicts{deny, allow, allow, allow, allow, allow, allow, allow}},
		{"a manifest of the project frees nothing", permissions.ModeAsk, nil, &pipeline.PolicyDelegation{Manifest: allowed}, verdicts{ask, ask, ask, ask, ask, ask, ask, ask}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, func(o *pipeline.Options) { o.Gate = tools.Gate{AllowMCP: true, AllowToolbox: true} }, elsewhere()...)
			s.policy.SetDefaults(permissions.Defaults(tt.mode, true, builtin.Defaults()))
			s.policy.Replace(permissions.User, tt.user)
			agent := s
			if tt.delegation != nil {
				agent = s.delegate("explore", *tt.delegation, nil)
			}
			for i, tool := range elsewhere() {
				if e := agent.Explain(t.Context(), pipeline.Call{ID: "call_1", Name: tool.ID, Input: "{}"}); e.Action != tt.want[i] {
					t.Errorf("%s: %v, want %v: %s", tool.ID, e.Action, tt.want[i], e.Reason)
				}
			}
		})
	}
}

func ptr[T any](value T) *T { return &value }

// R10: a subagent whose manifest lists its tools has those from elsewhere that it names, and
// one that the toolbox is for, and no others.
func TestDelegate_ToolsFromElsewhereAreNamed(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) { o.Gate = tools.Gate{AllowMCP: true, AllowToolbox: true} }, elsewhere()...)
	s.policy.Replace(permissions.User, []permissions.Rule{plainRule("*", "*", capability.Allow)})
	tests := []struct {
		name  string
		named []string
		has   []string
	}{
		{"no list", nil, []string{"mcp__s__row", "mcp__far__row", "tb__word", "tb__word_open", "tb__unit__row", "tb__unit_open__row", "tb__far__row", "lint"}},
		{"a list without them", []string{"read"}, nil},
		{"an empty list", []string{}, nil},
		{"a list that names some", []string{"read", "mcp__s__row", "tb__unit__row"}, []string{"mcp__s__row", "tb__unit__row"}},
		{"a list with forms that are no names", []string{"mcp:s:*", "mcp__s__*", "mcp:s:row", "*"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			child := s.delegate("explore", pipeline.PolicyDelegation{}, func(o *pipeline.Options) {
				o.Gate = tools.Gate{IncludeTools: tt.named, AllowMCP: tt.named == nil, AllowToolbox: true, SubagentType: "explore"}
			})
			offered := names(child.Catalog())
			for _, tool := range elsewhere() {
				has := false
				for _, id := range tt.has {
					has = has || id == tool.ID
				}
				listed := false
				for _, id := range offered {
					listed = listed || id == tool.ID
				}
				e := child.Explain(t.Context(), pipeline.Call{ID: "call_1", Name: tool.ID, Input: "{}"})
				if listed != has || (e.Action == capability.Allow) != has {
					t.Errorf("%s: offered %v, %v, want %v: %s", tool.ID, listed, e.Action, has, e.Reason)
				}
			}
		})
	}
}

// E6, M1: a script that is changed while the user looks at the question is asked about
// again, and "always" was not said of it; one that goes on changing does not run.
func TestPipeline_ToolChangesDuringTheQuestion(t *testing.T) {
	tests := []struct {
		name    string
		changes int // questions during which it is changed
		asked   int
		state   transcript.State
	}{
		{"it stays as it is", 0, 1, transcript.Done},
		{"it is changed once", 1, 2, transcript.Done},
		{"it goes on changing", 9, 3, transcript.Rejected},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			content := 0
			tool := elsewhere()[2]
			tool.Requires = capability.RequirementSet{}
			tool.Origin = func() tools.Origin { return tools.Origin{Digest: strconv.Itoa(content)} }
			s := newStage(t, func(o *pipeline.Options) { o.Gate = tools.Gate{AllowToolbox: true} }, tool)
			s.answers = []tools.Answer{tools.AllowAlways, tools.AllowAlways, tools.AllowAlways, tools.AllowAlways}
			s.onAsk = func(tools.PermissionRequest) {
				if content < tt.changes {
					content++
				}
			}
			want(t, s.call(t, tool.ID, object{}), tt.state, "")
			if len(s.asked) != tt.asked {
				t.Errorf("asked %d times, want %d", len(s.asked), tt.asked)
			}
		})
	}
}

// R123: "reject always" of a tool from elsewhere, which names nothing that it touches, is for
// the tool in this session.
func TestPipeline_RejectAlwaysFromElsewhere(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) { o.Gate = tools.Gate{AllowMCP: true} }, elsewhere()[:2]...)
	s.answers = []tools.Answer{tools.RejectAlways, tools.AllowOnce}
	want(t, s.call(t, "mcp__s__row", object{}), transcript.Rejected, "rejected")
	want(t, s.call(t, "mcp__s__row", object{}), transcript.Rejected, "deny rule")
	want(t, s.call(t, "mcp__far__row", object{}), transcript.Done, "")
	if len(s.asked) != 2 {
		t.Errorf("asked %d times", len(s.asked))
	}
}
