package permissions_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools/builtin"
)

// agent is a node of a random tree of agents.
type agent struct {
	set permissions.Set
	// bare is set without what the user allowed to the agents above this one, without
	// also without what they allowed to this one.
	bare, without permissions.Set
	own           []permissions.Rule // what the user allowed to it
	written       []permissions.Rule // and to all, in their own file or by keeping an answer
	restricted    bool
	parent        *agent
}

// genFitting draws rules that are likely to meet one of delegatedCalls, and to allow it.
var genFitting = rapid.Custom(func(t *rapid.T) permissions.Rule {
	r := rapid.SampledFrom([]permissions.Rule{
		rule("bash", "npm *", allow), rule("bash", "npm test", allow), rule("bash", "*", allow), rule("shell.run", "*", allow),
		rule("edit", "src/**", allow), rule("edit", "/w/src/a.go", allow), rule("fs.write", "*", allow), rule("*", "*", allow),
		rule("read", "*", allow), rule("delete_file", "*", allow), rule("apply_patch", "*", allow), rule("lsp", "*", allow),
		rule("web_fetch", "go.dev", allow), rule("mcp:s:*", "*", allow), rule("repo_clone", "*", allow),
	}).Draw(t, "rule")
	r.Action = rapid.SampledFrom([]capability.Action{allow, allow, allow, allow, ask, ask, deny}).Draw(t, "action")
	r.Source = rapid.SampledFrom([]string{"", "", permissions.SourceAlways, "profile dev"}).Draw(t, "source")
	return r
})

// delegatedCalls are one of each kind that delegation may tell apart.
func delegatedCalls() []permissions.Call {
	command := func(edit func(*permissions.Resource)) permissions.Call {
		call := bashCall(ask, "npm test")
		edit(&call.Resources[0])
		return call
	}
	patch := fileCall("apply_patch", "/w/src/a.go")
	patch.Resources[0].Also = []string{"delete_file"}
	program := permissions.Resource{Kind: permissions.Program, Name: "gopls"}
	host := permissions.Resource{Kind: permissions.Host, Name: "go.dev"}
	vars := patch.Vars
	return []permissions.Call{
		command(func(*permissions.Resource) {}),
		command(func(r *permissions.Resource) { r.Judged.Sandboxable = true }),
		command(func(r *permissions.Resource) { r.Judged.Network = true }),
		command(func(r *permissions.Resource) { r.Judged.Background = true }),
		command(func(r *permissions.Resource) { r.Judged.Validation = true }),
		command(func(r *permissions.Resource) { r.Judged.Always = []string{"npm", "test"} }),
		command(func(r *permissions.Resource) { r.Dynamic = true }),
		bashCall(allow, "ls"), bashCall(deny, "rm -rf /"), bashCall(ask, "npm test", "npm run x"),
		fileCall("edit", "/w/src/a.go"), fileCall("edit", "/w/b"), fileCall("read", "/w/b"), fileCall("edit", "/w/.git/config"), patch,
		{Tool: "lsp", Capabilities: []string{capability.CapShellRun}, Resources: []permissions.Resource{program}, Vars: vars},
		{Tool: "repo_clone", Capabilities: []string{capability.CapShellRun}, Resources: []permissions.Resource{program, host}, Vars: vars},
		{Tool: "web_fetch", Capabilities: []string{capability.CapNetFetch}, Resources: []permissions.Resource{host}, Vars: vars},
		{Tool: "mcp__s__t"},
	}
}

// genAgents draws a line of agents, the main one first, at most six deep.
var genAgents = rapid.Custom(func(t *rapid.T) []*agent {
	mode := rapid.SampledFrom([]permissions.Mode{permissions.ModeAsk, permissions.ModeCode, permissions.ModePlan, permissions.ModeAuto}).Draw(t, "mode")
	main := &agent{set: permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(mode, rapid.Bool().Draw(t, "trusted"), builtin.Defaults())...)}
	main.without = main.set
	for range rapid.IntRange(0, 6).Draw(t, "rules") {
		scope, r := genScope.Draw(t, "scope"), genFitting.Draw(t, "rule")
		main.set = main.set.With(scope, r)
		if scope != permissions.Session || r.Action != allow {
			main.without = main.without.With(scope, r)
		}
		if r.Action != allow {
			continue
		}
		switch {
		case scope == permissions.User && r.Source != "profile dev", scope == permissions.Project && r.Source == permissions.SourceAlways:
			main.written = append(main.written, r)
		case scope == permissions.Session:
			main.own = append(main.own, r)
		}
	}
	main.bare = main.set
	list := []*agent{main}
	for range rapid.IntRange(1, 6).Draw(t, "depth") {
		list = append(list, genChild(t, list[len(list)-1]))
	}
	return list
})

func genChild(t *rapid.T, parent *agent) *agent {
	manifest := rapid.SliceOfN(genFitting, 0, 3).Draw(t, "manifest")
	given := rapid.SliceOfN(genFitting, 0, 2).Draw(t, "given")
	answers := rapid.SliceOfN(genFitting, 0, 2).Draw(t, "answers")
	restricts := rapid.IntRange(0, 3).Draw(t, "restricts") == 0
	derive := func(from permissions.Set, given, answers []permissions.Rule) permissions.Set {
		set := from.Child(manifest).WithUserManifest(given...).With(permissions.Session, answers...)
		if restricts {
			set = set.Restrict()
		}
		return set
	}
	allows := func(r permissions.Rule) bool { return r.Action == allow }
	return &agent{
		parent: parent, written: parent.written, restricted: parent.restricted || restricts,
		own:     slices.DeleteFunc(slices.Concat(given, answers), func(r permissions.Rule) bool { return !allows(r) }),
		set:     derive(parent.set, given, answers),
		bare:    derive(parent.without, given, answers),
		without: derive(parent.without, slices.DeleteFunc(slices.Clone(given), allows), slices.DeleteFunc(slices.Clone(answers), allows)),
	}
}

// parts splits a call into calls that each touch one of the things it touches, under one
// capability and the rules of one tool.
func parts(call permissions.Call) []permissions.Call {
	if len(call.Resources) == 0 || len(call.Capabilities) == 0 {
		return []permissions.Call{call}
	}
	var list []permissions.Call
	for _, r := range call.Resources {
		also := r.Also
		r.Also = nil
		for _, name := range call.Capabilities {
			part := call
			r.Capability, part.Capabilities = name, []string{name}
			part.Resources = []permissions.Resource{r}
			list = append(list, part)
			for _, tool := range also {
				part.Tool = tool
				list = append(list, part)
			}
		}
	}
	return list
}

// TestDecide_Descendants holds R64 for any line of agents, with any manifests, answers,
// levels and modes.
func TestDecide_Descendants(t *testing.T) {
	calls := delegatedCalls()
	rapid.Check(t, func(t *rapid.T) {
		agents := genAgents.Draw(t, "agents")
		for _, call := range append(calls, genCall.Draw(t, "call")) {
			for i, child := range agents[1:] {
				descends(t, agents[:i+1], child, call)
			}
		}
	})
}

// descends holds what R64 says of one call of a child.
func descends(t *rapid.T, ancestors []*agent, child *agent, call permissions.Call) {
	got := child.set.Decide(call)
	for _, above := range ancestors {
		if d := above.set.Decide(call); d.Action == deny && got.Action != deny {
			t.Fatalf("%s is denied to an ancestor (%s), %s to a descendant", call.Tool, d.Reason, got.Action)
		}
	}
	parent := child.parent.set.Decide(call)
	if len(child.own) == 0 && parent.Action.Stricter(got.Action) {
		t.Fatalf("%s: %s to the parent (%s), and %s to a child that the user allowed nothing", call.Tool, parent.Action, parent.Reason, got.Action)
	}
	if got.Action == allow {
		freed(t, child, call)
	}
	if d := child.bare.Decide(call); d.Action != got.Action {
		t.Fatalf("%s: what the user allowed to its ancestors makes %s (%s) of %s", call.Tool, got.Action, got.Reason, d.Action)
	}
	for _, r := range got.Always {
		if child.restricted && r.Permission == "bash" && strings.HasSuffix(r.Pattern, " *") {
			t.Fatalf("always would store %q for a restricted agent", r.Pattern)
		}
	}
}

// freed holds that each part which is allowed to a child was allowed to its parent or by
// the user to the child; and to a restricted one by the judge or by the user.
func freed(t *rapid.T, child *agent, call permissions.Call) {
	var none permissions.Set
	own := none.With(permissions.Session, child.own...)
	ofUser := own.With(permissions.User, child.written...)
	for _, part := range parts(call) {
		if d := child.parent.set.Decide(part); d.Action == ask && own.Decide(part).Action != allow {
			t.Fatalf("the parent asks (%s), and nothing that the user allowed to the child covers it", d.Reason)
		}
		if !child.restricted || len(part.Resources) == 0 {
			continue
		}
		r := part.Resources[0]
		if r.Kind != permissions.Command {
			continue
		}
		switch {
		case r.Judged.Network, r.Judged.Background:
			t.Fatalf("a restricted agent runs %q: network %v, background %v", r.Name, r.Judged.Network, r.Judged.Background)
		case r.Judged.Action != allow && ofUser.Decide(part).Action != allow:
			t.Fatalf("a restricted agent runs %q, which neither the judge nor the user allowed", r.Name)
		}
	}
}

// TestDecide_RestrictOnlyNarrows holds that no agent is freer for being restricted.
func TestDecide_RestrictOnlyNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, call := genSet.Draw(t, "set"), genCall.Draw(t, "call")
		before, after := s.Decide(call), s.Restrict().Decide(call)
		if before.Action.Stricter(after.Action) {
			t.Fatalf("%s (%s) became %s (%s)", before.Action, before.Reason, after.Action, after.Reason)
		}
	})
}
