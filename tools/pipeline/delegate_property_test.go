package pipeline_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/tooltest"
)

// delegated is an agent of a random tree, over a real pipeline.
type delegated struct {
	*pipeline.Pipeline
	parent *delegated
	// told says that the user allowed something to this very agent.
	told bool
}

var (
	genTools = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"read", "write", "bash", "courier"}), 2, 4, rapid.ID[string])
	genGrant = rapid.Custom(func(t *rapid.T) permissions.Rule {
		r := rapid.SampledFrom([]permissions.Rule{
			plainRule("read", "*", capability.Allow), plainRule("fs.read", "docs/**", capability.Allow), plainRule("write", "*", capability.Allow),
			plainRule("bash", "*", capability.Allow), plainRule("bash", "make*", capability.Allow), plainRule("courier", "*.example", capability.Allow),
			plainRule("net.fetch", "*", capability.Allow), plainRule("*", "*", capability.Allow),
		}).Draw(t, "rule")
		r.Action = rapid.SampledFrom([]capability.Action{capability.Allow, capability.Allow, capability.Allow, capability.Ask, capability.Deny}).Draw(t, "action")
		return r
	})
	genMode = rapid.SampledFrom([]permissions.Mode{permissions.ModeAsk, permissions.ModeCode, permissions.ModeAuto})
)

// smallRegistry has a tool of each kind; the network of courier is as wide as hosts.
func smallRegistry(t *testing.T, hosts string) *tools.Registry {
	t.Helper()
	courier := tooltest.NewMock("courier", "sent").Tool
	courier.Requires = capability.RequirementSet{Net: capability.Net{Hosts: []string{hosts}}}
	courier.Resources = func(tools.Args, tools.Env) []tools.Resource {
		return []tools.Resource{{Kind: tools.Host, Value: "api.example", URL: "https://api.example/"}}
	}
	list := []tools.Tool{courier}
	for _, tool := range builtin.All() {
		if slices.Contains([]string{"read", "write", "bash"}, tool.ID) {
			list = append(list, tool)
		}
	}
	registry, err := tools.NewRegistry(list...)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// TestDelegate_NeverFreer holds R64 through real pipelines: for random trees of agents with
// random tools, needs, rules, levels and modes, and whatever the user answers meanwhile,
// no agent may what any above it is denied, and none is freer than its parent but for what
// the user allowed to it.
func TestDelegate_NeverFreer(t *testing.T) {
	s := newStage(t, nil)
	s.write(t, "a.txt", "text\n")
	outside := filepath.Join(t.TempDir(), "b.txt")
	if err := os.WriteFile(outside, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var calls []pipeline.Call
	add := func(name string, args any) {
		input, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, pipeline.Call{ID: "c", Name: name, Input: string(input)})
	}
	add("courier", object{})
	for _, path := range []string{"a.txt", "docs/b.txt", ".env", outside} {
		add("read", object{"path": path})
		add("write", object{"path": path, "content": "x"})
	}
	for _, cmd := range []string{"ls", "make", "npm ci", "make & true", "rm -rf /", "make > a.txt"} {
		add("bash", object{"cmd": cmd})
	}
	registries := []*tools.Registry{smallRegistry(t, "api.example"), smallRegistry(t, "*.example"), smallRegistry(t, "post.example")}

	rapid.Check(t, func(t *rapid.T) {
		o := s.Options
		o.Registry = rapid.SampledFrom(registries).Draw(t, "registry")
		set := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(genMode.Draw(t, "mode"), rapid.Bool().Draw(t, "trusted"), builtin.Defaults())...)
		for _, scope := range []permissions.Scope{permissions.Manifest, permissions.User, permissions.Project, permissions.Session} {
			set = set.With(scope, rapid.SliceOfN(genGrant, 0, 1).Draw(t, "rules")...)
		}
		o.Policy = pipeline.NewPolicy(set)
		tree := []*delegated{{Pipeline: pipeline.New(o)}}
		for range rapid.IntRange(1, 7).Draw(t, "agents") {
			parent := rapid.SampledFrom(tree[max(0, len(tree)-2):]).Draw(t, "parent")
			if len(parent.Names) < 6 {
				tree = append(tree, spawn(t, parent, registries))
			}
		}
		for range rapid.IntRange(1, 3).Draw(t, "events") {
			happens(t, tree)
			for _, call := range calls {
				bounded(t, tree, call)
			}
		}
	})
}

// spawn draws a child of an agent.
func spawn(t *rapid.T, parent *delegated, registries []*tools.Registry) *delegated {
	d := pipeline.PolicyDelegation{
		Manifest: rapid.SliceOfN(genGrant, 0, 2).Draw(t, "manifest"), UserManifest: rapid.SliceOfN(genGrant, 0, 1).Draw(t, "given"),
		Restricted: rapid.IntRange(0, 3).Draw(t, "restricted") == 0,
	}
	o := parent.Options
	o.Parent, o.Policy = parent.Pipeline, parent.Policy.Delegate(d)
	o.Names = append(slices.Clone(parent.Names), fmt.Sprint("n", len(parent.Names)))
	o.Gate.IncludeTools = genTools.Draw(t, "tools")
	o.Registry = rapid.SampledFrom(registries).Draw(t, "registry")
	sessionOf(&o).modePolicy = nil
	if rapid.IntRange(0, 5).Draw(t, "mode policy") == 0 {
		policy := pipeline.ModePolicy{Mode: "m", ReadOnly: rapid.Bool().Draw(t, "read-only")}
		sessionOf(&o).modePolicy = func() pipeline.ModePolicy { return policy }
	}
	child := &delegated{Pipeline: pipeline.New(o), parent: parent}
	child.told = slices.ContainsFunc(d.UserManifest, func(r permissions.Rule) bool { return r.Action == capability.Allow })
	return child
}

// happens draws something that changes the rules of a living tree.
func happens(t *rapid.T, tree []*delegated) {
	agent := rapid.SampledFrom(tree).Draw(t, "agent")
	switch rapid.IntRange(0, 3).Draw(t, "event") {
	case 0:
		tree[0].Policy.SetDefaults(permissions.Defaults(genMode.Draw(t, "mode"), rapid.Bool().Draw(t, "trusted"), builtin.Defaults()))
	case 1:
		tree[0].Policy.Replace(permissions.Project, rapid.SliceOfN(genGrant, 0, 2).Draw(t, "project"))
	default:
		r := genGrant.Draw(t, "answer")
		agent.Policy.Remember(r)
		agent.told = agent.told || r.Action == capability.Allow
	}
}

// bounded holds what R64 says of one call of each agent of a tree, parents first.
func bounded(t *rapid.T, tree []*delegated, call pipeline.Call) {
	said := map[*delegated]pipeline.Explanation{}
	for _, agent := range tree {
		got := agent.Explain(t.Context(), call)
		said[agent] = got
		if agent.parent == nil {
			continue
		}
		above := said[agent.parent] // which is bounded by those above it in the same way
		if above.Action == capability.Deny && got.Action != capability.Deny {
			t.Fatalf("%s %s: denied to %q (%s), and %s to %q", call.Name, call.Input, agent.parent.Names, above.Reason, got.Action, agent.Names)
		}
		if !agent.told && above.Action.Stricter(got.Action) {
			t.Fatalf("%s %s: %s to the parent (%s), and %s to %q, which the user allowed nothing",
				call.Name, call.Input, above.Action, above.Reason, got.Action, agent.Names)
		}
	}
}

// Reading the rules of a subagent, which every call does several times.
func BenchmarkPolicy_Rules(b *testing.B) {
	set := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeCode, true, builtin.Defaults())...).With(permissions.User, permissions.DevRules()...)
	policy := pipeline.NewPolicy(set)
	for range 5 {
		policy = policy.Delegate(pipeline.PolicyDelegation{Manifest: permissions.DevRules(), Restricted: true})
	}
	call := permissions.Call{
		Tool: "edit", Capabilities: []string{capability.CapFSRead, capability.CapFSWrite},
		Resources: []permissions.Resource{{Kind: permissions.Path, Name: "/w/a.go"}}, Vars: capability.Vars{capability.VarWorkspace: {"/w"}, permissions.VarScratch: nil},
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			policy.Rules()
		}
	})
	b.Run("decide", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			policy.Rules().Decide(call)
		}
	})
	b.Run("decide alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			set.Decide(call)
		}
	})
}
