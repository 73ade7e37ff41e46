package pipeline_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// modePolicies lets a test change the mode.
type modePolicies struct {
	mu  sync.Mutex
	now pipeline.ModePolicy
}

func (s *modePolicies) get() pipeline.ModePolicy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *modePolicies) set(now pipeline.ModePolicy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

var everything = pipeline.ModePolicy{Mode: "code", Gate: tools.Gate{AllowMCP: true, AllowToolbox: true}}

// everythingAllowed are rules that ask about nothing.
var everythingAllowed = permissions.Rule{Permission: "*", Pattern: "*", Action: capability.Allow}

// R10, R157: the catalogue follows the mode from one request to the next and never
// within one; what a mode lists needs not be looked for, and what it keeps out cannot be
// found.
func TestModePolicy_Catalog(t *testing.T) {
	mode := &modePolicies{now: everything}
	s := newStage(t, func(o *pipeline.Options) {
		sessionOf(o).modePolicy, o.Deferral = mode.get, pipeline.Deferral{Threshold: 20, Always: []string{"read", "write", "tool_search"}}
	}, hidden()...)
	has := func(list []string, ids ...string) []bool {
		var got []bool
		for _, id := range ids {
			got = append(got, slices.Contains(list, id))
		}
		return got
	}
	first := names(s.Catalog())
	if got := has(first, "read", "write", "plan"); !slices.Equal(got, []bool{true, true, false}) {
		t.Errorf("at first: read, write, plan = %v", got)
	}
	mode.set(pipeline.ModePolicy{
		Mode: "plan", Gate: tools.Gate{IncludeTools: []string{"read", "plan", "tool_search", "gadget_3"}}, Always: []string{"plan", "plan_exit"},
	})
	if end := s.call(t, "write", object{"path": "a", "content": "x"}); end.Result.Error.DeniedBy == "enablement" {
		t.Error("the gate changed within a request")
	}
	second := names(s.Catalog())
	if got := has(second, "read", "write", "plan", "plan_exit"); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Errorf("in the mode: read, write, plan, plan_exit = %v", got)
	}
	want(t, s.call(t, "write", object{"path": "a", "content": "x"}), transcript.Rejected, "write is not one of the tools of this mode")
	if !s.Deferred("gadget_3") || s.Deferred("plan") {
		t.Error("gadget_3 is to be looked for, plan is not")
	}
	end := s.call(t, "tool_search", object{"query": "gadget polishing"})
	want(t, end, transcript.Done, "gadget_3")
	if strings.Contains(end.Text, "gadget_4") {
		t.Errorf("a tool that the mode keeps out was found: %s", end.Text)
	}
	mode.set(everything)
	if third := names(s.Catalog()); !slices.Equal(third, first) {
		t.Errorf("back again: %q, want %q: the list must not change (R138)", third, first)
	}
}

// R157: what changes nothing changes nothing, whatever rules allow and whichever way a
// tool takes.
func TestModePolicy_ReadOnly(t *testing.T) {
	type writer = func(context.Context, tools.Runtime) (*tools.Result, error)
	workspaceWrite := capability.RequirementSet{FS: capability.FS{Write: []string{"{workspace}"}}}
	shell := capability.RequirementSet{Capabilities: []string{capability.CapShellRun}}
	quietly := func(id string, requires capability.RequirementSet, run writer) tools.Tool {
		return tools.Define(tools.Spec{ID: id, Description: "Works.", Parameters: &jsonschema.Schema{Type: "object"}, Requires: requires, Profile: &tools.Profile{}}, func(ctx context.Context, rt tools.Runtime, _ json.RawMessage) (*tools.Result, error) {
			return run(ctx, rt)
		})
	}
	mode := &modePolicies{}
	s := newStage(t, func(o *pipeline.Options) { sessionOf(o).modePolicy = mode.get },
		quietly("sneaks", workspaceWrite, func(ctx context.Context, rt tools.Runtime) (*tools.Result, error) {
			return tools.Output("written"), rt.FS().WriteText(ctx, "sneaked.txt", "x", nil)
		}),
		quietly("spawns", shell, func(context.Context, tools.Runtime) (*tools.Result, error) { return tools.Output("ran"), nil }),
	)
	s.policy.Remember(everythingAllowed)
	s.write(t, "a.txt", "one\n")
	scratch := s.Workspace.Session().Scratch
	mode.set(pipeline.ModePolicy{
		Mode: "plan", Gate: everything.Gate, ReadOnly: true, Writable: []string{filepath.Join(scratch, tools.PlanFile)},
	})
	for _, tt := range []struct {
		tool string
		args object
		why  string
	}{
		{"write", object{"path": "new.txt", "content": "x"}, "mode plan, in which nothing is changed"},
		{"edit", object{"path": "a.txt", "old_str": "one", "new_str": "two"}, "nothing is changed"},
		{"write", object{"path": filepath.Join(scratch, "other.md"), "content": "x"}, "nothing is changed"},
		{"delete_file", object{"path": "a.txt"}, "nothing is changed"},
		{"bash", object{"cmd": "touch made"}, "touch changes files"},
		{"bash", object{"cmd": "go test ./..."}, "only commands that plainly only read run"},
		{"bash", object{"cmd": "ls > listing"}, "the output is written to listing"},
		{"sneaks", object{}, "sneaked.txt"},
		{"spawns", object{}, "what it starts cannot be judged"},
	} {
		end := s.call(t, tt.tool, tt.args)
		want(t, end, transcript.Rejected, tt.why)
	}
	for _, name := range []string{"new.txt", "made", "listing", "sneaked.txt"} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	want(t, s.call(t, "read", object{"path": "a.txt"}), transcript.Done, "one")
	want(t, s.call(t, "plan", object{"content": "# Plan"}), transcript.Done, "Plan saved")
	// What the model was told with the last request binds as well as what is so now.
	s.Catalog()
	mode.set(everything)
	want(t, s.call(t, "write", object{"path": "new.txt", "content": "x"}), transcript.Rejected, "nothing is changed")
	s.Catalog()
	want(t, s.call(t, "write", object{"path": "new.txt", "content": "x"}), transcript.Done, "created")
	mode.set(pipeline.ModePolicy{Mode: "plan", Gate: everything.Gate, ReadOnly: true})
	want(t, s.call(t, "write", object{"path": "more.txt", "content": "x"}), transcript.Rejected, "nothing is changed")
}

// R124: where no one is asked, a command that a rule allows runs only when something
// confines it or a user chose that; what only reads always runs.
func TestUnattended(t *testing.T) {
	why := "nothing confines it"
	s := newStage(t, func(o *pipeline.Options) {
		o.Asker, sessionOf(o).whyNotUnattended = nil, func(context.Context) string { return why }
	})
	s.policy.Remember(everythingAllowed)
	want(t, s.call(t, "bash", object{"cmd": "touch made"}), transcript.Rejected, why)
	const ran = "commands cannot be run in this session" // the stage has no shell
	want(t, s.call(t, "bash", object{"cmd": "ls"}), transcript.Failed, ran)
	want(t, s.call(t, "write", object{"path": "a.txt", "content": "x"}), transcript.Done, "")
	why = ""
	want(t, s.call(t, "bash", object{"cmd": "touch made"}), transcript.Failed, ran)
}
