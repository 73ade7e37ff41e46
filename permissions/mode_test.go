package permissions_test

import (
	"testing"

	"pgregory.net/rapid"

	"acp-agent/capability"
	"acp-agent/permissions"
)

// contained is a command that a sandbox answers for.
func contained(text string) permissions.Resource {
	return permissions.Resource{
		Kind: permissions.Command, Name: text, Capability: capability.CapShellRun,
		Judged: &permissions.Judgement{Action: ask, Reason: "judged", Sandboxable: true},
	}
}

// In mode auto a command that the sandbox confines is allowed in the place of the default
// row, and no rule, and no other finding, is outranked by that (R115).
func TestDecide_Auto(t *testing.T) {
	call := func(resources ...permissions.Resource) permissions.Call {
		return permissions.Call{
			Tool: "bash", Capabilities: []string{capability.CapShellRun}, Resources: resources,
			Vars: capability.Vars{capability.VarWorkspace: {"/w"}, permissions.VarScratch: nil, permissions.VarGrantedHosts: nil},
		}
	}
	with := func(change func(*permissions.Resource)) permissions.Resource {
		r := contained("make")
		change(&r)
		return r
	}
	written := func(name string) permissions.Resource {
		return permissions.Resource{
			Kind: permissions.Path, Name: name, Capability: capability.CapFSWrite,
			Judged: &permissions.Judgement{Action: ask, Reason: "judged", Sandboxable: true},
		}
	}
	tests := []struct {
		name  string
		rules scoped
		call  permissions.Call
		want  capability.Action
	}{
		{"a contained command", nil, call(contained("make")), allow},
		{"and one that is not", nil, call(contained("make"), with(func(r *permissions.Resource) { r.Judged.Sandboxable = false })), ask},
		{"that validation names", nil, call(with(func(r *permissions.Resource) { r.Judged.Validation = true })), ask},
		{"that is only known when it runs", nil, call(with(func(r *permissions.Resource) { r.Dynamic, r.Judged.Open = true, true })), allow},
		{"so, where a rule could not be held against it", scoped{permissions.User: {rule("bash", "git push*", deny)}}, call(with(func(r *permissions.Resource) { r.Dynamic, r.Judged.Open = true, true })), ask},
		{"so, where a rule is about a path that it may come to", scoped{permissions.User: {rule(capability.CapFSRead, "private/**", deny)}}, call(with(func(r *permissions.Resource) { r.Dynamic, r.Judged.Open = true, true })), ask},
		{"that policy denies", nil, call(with(func(r *permissions.Resource) { r.Judged.Action = deny })), deny},
		{"that the user wants asked", scoped{permissions.User: {rule("bash", "make*", ask)}}, call(contained("make")), ask},
		{"that the project wants asked", scoped{permissions.Project: {rule("*", "*", ask)}}, call(contained("make")), ask},
		{"that a rule denies", scoped{permissions.Session: {rule("bash", "make", deny)}}, call(contained("make")), deny},
		{"output inside", nil, call(written("/w/out.txt")), allow},
		{"output to what runs code", nil, call(written("/w/.git/config")), ask},
		{"output to a secret", nil, call(written("/w/.env")), ask},
		{"a capability that no part stands for", scoped{permissions.Session: {rule("bash", "curl*", allow)}}, func() permissions.Call {
			c := call(contained("make"), with(func(r *permissions.Resource) { r.Name, r.Judged.Sandboxable = "curl x", false }))
			c.Capabilities = append(c.Capabilities, "other")
			return c
		}(), ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := setOf(permissions.ModeAuto, tt.rules).Decide(tt.call)
			if d.Action != tt.want {
				t.Errorf("got %s (%s), want %s", d.Action, d.Reason, tt.want)
			}
			if tt.want == allow && d.Reason != "the sandbox confines it" {
				t.Errorf("reason %q", d.Reason)
			}
		})
	}
	exposed := with(func(r *permissions.Resource) {
		r.Judged.Sandboxable, r.Judged.NotSandboxable = false, "it uses the network"
	})
	if d := setOf(permissions.ModeAuto, nil).Decide(call(exposed)); d.Action != ask || d.Reason != "it uses the network" {
		t.Errorf("got %s (%s), want to be asked for what the sandbox does not hold", d.Action, d.Reason)
	}
	if d := setOf(permissions.ModeCode, nil).Decide(call(exposed)); d.Reason != "judged" {
		t.Errorf("without a sandbox the reason is %q", d.Reason)
	}
	for _, mode := range []permissions.Mode{permissions.ModeAsk, permissions.ModeCode, permissions.ModePlan} {
		if d := setOf(mode, nil).Decide(call(contained("make"))); d.Action != ask {
			t.Errorf("mode %s: got %s (%s), want ask", mode, d.Action, d.Reason)
		}
	}
	wide := scoped{permissions.User: {rule("bash", permissions.InSandbox, allow)}}
	if d := setOf(permissions.ModeAsk, wide).Decide(call(contained("make"))); d.Action != ask {
		t.Errorf("a written rule with the pattern of the default row: got %s (%s), want ask", d.Action, d.Reason)
	}
}

// R117, R157: leaving plan mode is asked each time, whatever rules say, and never stored.
func TestDecide_PlanExit(t *testing.T) {
	call := permissions.Call{Tool: "plan_exit", Vars: capability.Vars{capability.VarWorkspace: nil, permissions.VarScratch: nil, permissions.VarGrantedHosts: nil}}
	for _, tt := range []struct {
		rule permissions.Rule
		want capability.Action
	}{
		{rule("read", "*", allow), ask},
		{rule("plan_exit", "*", allow), ask},
		{rule("*", "*", allow), ask},
		{rule("plan_exit", "*", deny), deny},
	} {
		d := setOf(permissions.ModePlan, scoped{permissions.Session: {tt.rule}}).Decide(call)
		if d.Action != tt.want || len(d.Always) > 0 {
			t.Errorf("with %+v: got %s (%s), always %v; want %s", tt.rule, d.Action, d.Reason, d.Always, tt.want)
		}
	}
}

// R115, E2: whatever rules there are, mode auto frees nothing but parts that a sandbox
// answers for, denies what mode ask denies, and a deny more makes it no freer.
func TestDecide_AutoFreesOnlyContained(t *testing.T) {
	flag := rapid.Bool()
	rapid.Check(t, func(t *rapid.T) {
		rules := scoped{}
		for range rapid.IntRange(0, 5).Draw(t, "rules") {
			scope := rapid.SampledFrom([]permissions.Scope{permissions.Manifest, permissions.User, permissions.Project, permissions.Session}).Draw(t, "scope")
			rules[scope] = append(rules[scope], genRule.Draw(t, "rule"))
		}
		call := bashCall(ask)
		call.Vars = fileCall("edit", "/w/a").Vars
		onlyContained := true
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			judged := &permissions.Judgement{
				Action: genAction.Draw(t, "judged"), Reason: "judged", Validation: flag.Draw(t, "validation"), Sandboxable: flag.Draw(t, "contained"),
			}
			part := permissions.Resource{
				Kind: permissions.Command, Name: rapid.SampledFrom([]string{"npm test", "rm a", "ls"}).Draw(t, "command"),
				Capability: capability.CapShellRun, Dynamic: flag.Draw(t, "dynamic"), Judged: judged,
			}
			call.Resources = append(call.Resources, part)
			alone := call
			alone.Resources = []permissions.Resource{part}
			free := setOf(permissions.ModeAsk, rules).Decide(alone).Action == allow
			onlyContained = onlyContained && (free || judged.Action == ask && judged.Sandboxable && !judged.Validation)
		}
		before, after := setOf(permissions.ModeAsk, rules).Decide(call), setOf(permissions.ModeAuto, rules).Decide(call)
		switch {
		case before.Action == deny && after.Action != deny:
			t.Fatalf("a deny (%s) became %s (%s)", before.Reason, after.Action, after.Reason)
		case before.Action != allow && after.Action == allow && !onlyContained:
			t.Fatalf("%s (%s) became allow (%s)", before.Action, before.Reason, after.Reason)
		}
		added := genRule.Draw(t, "added")
		added.Action = deny
		if narrowed := setOf(permissions.ModeAuto, rules).With(genScope.Draw(t, "to"), added).Decide(call); after.Action.Stricter(narrowed.Action) {
			t.Fatalf("a deny turned %s into %s (%s)", after.Action, narrowed.Action, narrowed.Reason)
		}
	})
}
