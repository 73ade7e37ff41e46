package permissions_test

import (
	"slices"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools/builtin"
)

// TestSet_Child holds that a child is never freer than its parent but for what the user
// allowed to the child itself, and that no deny of its ancestors is lifted by anything
// (R64, traps 4 and 6).
func TestSet_Child(t *testing.T) {
	parent := setOf(permissions.ModeAsk, scoped{
		permissions.Manifest: {rule("edit", "secret/**", deny), rule("read", "*", ask)},
		permissions.User:     {rule("web_fetch", "evil.dev", deny)},
		permissions.Project:  {rule("edit", "locked/**", deny)},
		permissions.Session:  {rule("bash", "npm *", allow), rule("bash", "rm *", deny)},
	}).WithUserManifest(rule("edit", "parent/**", allow), rule("edit", "given/**", deny))
	manifest := []permissions.Rule{rule("edit", "*", allow), rule("read", "*", allow), rule("bash", "*", allow), rule("web_fetch", "*", allow)}
	bare := parent.Child(manifest)
	everything := []permissions.Rule{
		rule("edit", "/w/**", allow), rule("read", "/w/**", allow), rule("bash", "npm test", allow), rule("bash", "rm a", allow),
		rule("web_fetch", "*", allow),
	}
	given, answered := bare.WithUserManifest(everything...), bare.With(permissions.Session, everything...)
	host := func(name string) permissions.Call {
		return permissions.Call{
			Tool: "web_fetch", Capabilities: []string{capability.CapNetFetch}, Vars: fileCall("read", "/w").Vars,
			Resources: []permissions.Resource{{Kind: permissions.Host, Name: name}},
		}
	}
	finding := bashCall(ask, "npm test")
	finding.Resources[0].Judged.Validation = true
	tests := []struct {
		name       string
		call       permissions.Call
		want, told capability.Action // without and with the user's word for this child
	}{
		{"a deny of the parent's manifest", fileCall("edit", "/w/secret/a"), deny, deny},
		{"a deny of the parent's given rules", fileCall("edit", "/w/given/a"), deny, deny},
		{"a deny of the user", host("evil.dev"), deny, deny},
		{"a deny of the project", fileCall("edit", "/w/locked/a"), deny, deny},
		{"a reject always of the parent", bashCall(ask, "rm a"), deny, deny},
		{"a deny of the judge", bashCall(deny, "npm test"), deny, deny},
		{"an ask of the parent's manifest", fileCall("read", "/w/a"), ask, allow},
		{"a shipped ask", fileCall("edit", "/w/a"), ask, allow},
		{"what the user gave the parent", fileCall("edit", "/w/parent/a"), ask, allow},
		{"what the user answered the parent", bashCall(ask, "npm test"), ask, allow},
		{"what the user allowed is no other command", bashCall(ask, "npm run x"), ask, ask},
		{"a finding that is asked each time", finding, ask, ask},
		{"a file that is asked each time", fileCall("edit", "/w/.git/config"), ask, ask},
		{"what both allow", bashCall(allow, "ls"), allow, allow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, child := range map[string]struct {
				set  permissions.Set
				want capability.Action
			}{
				"a child":                    {bare, tt.want},
				"a child with given rules":   {given, tt.told},
				"a child with answers":       {answered, tt.told},
				"its child":                  {given.Child(manifest), tt.want},
				"another child of it":        {answered.Child(manifest), tt.want},
				"a grandchild with answers":  {bare.Child(manifest).With(permissions.Session, everything...), tt.told},
				"a sibling of one with some": {parent.Child(manifest), tt.want},
			} {
				if d := child.set.Decide(tt.call); d.Action != child.want {
					t.Errorf("%s: got %s (%s), want %s", name, d.Action, d.Reason, child.want)
				}
			}
		})
	}
}

// A child's denies and asks bound its own children, whatever those are given.
func TestSet_Grandchild(t *testing.T) {
	parent := setOf(permissions.ModeCode, nil)
	child := parent.Child([]permissions.Rule{rule("edit", "docs/**", deny)}).
		WithUserManifest(rule("edit", "gen/**", deny), rule("read", "gen/**", ask)).
		With(permissions.Session, rule("edit", "/w/a", deny), rule("edit", "src/**", ask))
	grandchild := child.Child([]permissions.Rule{rule("*", "*", allow)})
	answered := grandchild.With(permissions.Session, rule("edit", "/w/**", allow), rule("read", "/w/**", allow), rule("edit", "/w/src/a.go", allow))
	tests := []struct {
		name       string
		call       permissions.Call
		want, told capability.Action
	}{
		{"a deny of its manifest", fileCall("edit", "/w/docs/a"), deny, deny},
		{"a deny that it was given", fileCall("edit", "/w/gen/a"), deny, deny},
		{"a deny of its session", fileCall("edit", "/w/a"), deny, deny},
		{"an ask that it was given", fileCall("read", "/w/gen/a"), ask, ask},
		{"an ask of its session", fileCall("edit", "/w/src/a.go"), ask, allow},
		{"what it may", fileCall("edit", "/w/b"), allow, allow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := grandchild.Decide(tt.call); d.Action != tt.want {
				t.Errorf("got %s (%s), want %s", d.Action, d.Reason, tt.want)
			}
			if d := answered.Decide(tt.call); d.Action != tt.told {
				t.Errorf("with answers: got %s (%s), want %s", d.Action, d.Reason, tt.told)
			}
		})
	}
}

// "Always" for a child stores what lifts the asks of all that delegated to it, and is
// offered only then; what is kept for the project helps all of them.
func TestSet_ChildAlways(t *testing.T) {
	call := always(bashCall(ask, "npm run build"), "npm", "run", "build")
	parent := setOf(permissions.ModeAsk, nil)
	child := parent.Child([]permissions.Rule{rule("bash", "*", allow)}).Child([]permissions.Rule{rule("bash", "*", allow)})
	d := child.Decide(call)
	if d.Action != ask || len(d.Always) != 1 || d.Always[0].Pattern != "npm run build *" {
		t.Fatalf("got %s with %v (%s)", d.Action, d.Always, d.NoAlways)
	}
	if d := child.With(permissions.Session, d.Always...).Decide(call); d.Action != allow {
		t.Errorf("after always: %s (%s)", d.Action, d.Reason)
	}
	if d := child.With(permissions.Project, d.Always...).Decide(call); d.Action != ask {
		t.Errorf("a rule that the project wrote into the child alone: %s", d.Action)
	}
	if d := child.WithProjectRules(d.Always...).Decide(call); d.Action != allow {
		t.Errorf("after it was kept: %s (%s)", d.Action, d.Reason)
	}
	firm := parent.With(permissions.Session, rule("bash", "npm run build *", ask)).Child(nil)
	if d := firm.Decide(call); len(d.Always) > 0 || d.NoAlways == "" {
		t.Errorf("an ask of the parent that is as specific: offered %v (%q)", d.Always, d.NoAlways)
	}
}

// TestSet_Restrict holds what a restricted agent may start, and that its descendants are
// restricted too.
func TestSet_Restrict(t *testing.T) {
	of := func(command string, edit func(*permissions.Judgement)) permissions.Call {
		call := bashCall(ask, command)
		if edit != nil {
			edit(call.Resources[0].Judged)
		}
		return call
	}
	contained := func(j *permissions.Judgement) { j.Sandboxable = true }
	networked := func(j *permissions.Judgement) { j.Network = true }
	background := func(j *permissions.Judgement) { j.Background = true }
	start := func(tool string) permissions.Call {
		return permissions.Call{
			Tool: tool, Capabilities: []string{capability.CapShellRun}, Vars: fileCall("read", "/w").Vars,
			Resources: []permissions.Resource{{Kind: permissions.Program, Name: "gopls"}},
		}
	}
	clone := start("repo_clone")
	clone.Resources = append(clone.Resources, permissions.Resource{Kind: permissions.Host, Name: "go.dev"})
	fetch := permissions.Call{
		Tool: "web_fetch", Capabilities: []string{capability.CapNetFetch}, Vars: fileCall("read", "/w").Vars,
		Resources: []permissions.Resource{{Kind: permissions.Host, Name: "example.com"}},
	}
	kept := rule("bash", "npm run build", allow)
	kept.Source = permissions.SourceAlways
	keptCall := always(bashCall(ask, "npm run build"), "npm", "run", "build")
	tests := []struct {
		name       string
		mode       permissions.Mode
		trusted    bool
		rules      scoped
		given      []permissions.Rule
		call       permissions.Call
		free, want capability.Action // of an agent that is not restricted, and of one that is
	}{
		{name: "what the judge allows", call: bashCall(allow, "ls"), free: allow, want: allow},
		{name: "what the judge asks", call: of("make", nil), free: ask, want: ask},
		{name: "the profile dev", rules: scoped{permissions.User: permissions.DevRules()}, call: of("make all", nil), free: allow, want: ask},
		{name: "the user's own file", rules: scoped{permissions.User: {rule("bash", "make all", allow)}}, call: of("make all", nil), free: allow, want: allow},
		{
			name:  "the user's own file beside the profile dev",
			rules: scoped{permissions.User: append(permissions.DevRules(), rule("bash", "make*", allow))}, call: of("make all", nil), free: allow, want: allow,
		},
		{name: "a match for everything that the user wrote", rules: scoped{permissions.User: {rule("bash", "*", allow)}}, call: of("make", nil), free: allow, want: allow},
		{name: "an answer that was kept", rules: scoped{permissions.Project: {kept}}, call: keptCall, free: allow, want: allow},
		{name: "a rule of the project's file", rules: scoped{permissions.Project: {rule("bash", "make", allow)}}, call: of("make", nil), free: allow, want: ask},
		{name: "a rule of a manifest", rules: scoped{permissions.Manifest: {rule("bash", "make", allow)}}, call: of("make", nil), free: allow, want: ask},
		{name: "a rule that the user gave it", given: []permissions.Rule{rule("bash", "make", allow)}, call: of("make", nil), free: allow, want: allow},
		{name: "an answer of the session", rules: scoped{permissions.Session: {rule("bash", "make", allow)}}, call: of("make", nil), free: allow, want: allow},
		{name: "the sandbox of mode auto", mode: permissions.ModeAuto, call: of("make", contained), free: allow, want: ask},
		{name: "a trusted project's checks", trusted: true, call: func() permissions.Call { c := of("make", nil); c.Tool = "check"; return c }(), free: allow, want: ask},
		{name: "a trusted project's language server", trusted: true, call: start("lsp"), free: allow, want: ask},
		{name: "a language server in mode auto", mode: permissions.ModeAuto, call: start("lsp"), free: allow, want: ask},
		{name: "a language server that the user allowed", rules: scoped{permissions.User: {rule("lsp", "*", allow)}}, call: start("lsp"), free: allow, want: allow},
		{name: "the network", call: of("npm ci", networked), free: ask, want: deny},
		{name: "the network, allowed by everything", rules: everywhere(rule("bash", "*", allow)), call: of("npm ci", networked), free: allow, want: deny},
		{name: "a tool that starts what reaches a host", rules: everywhere(rule("repo_clone", "*", allow)), call: clone, free: allow, want: deny},
		{name: "a host that no program reaches", call: fetch, free: allow, want: allow},
		{name: "the background", call: of("make", background), free: ask, want: deny},
		{name: "the background, allowed by everything", rules: everywhere(rule("bash", "*", allow)), call: of("make", background), free: allow, want: deny},
		{name: "a deny", rules: scoped{permissions.User: {rule("bash", "make", deny)}}, call: of("make", nil), free: deny, want: deny},
		{name: "a file in mode code", mode: permissions.ModeCode, call: fileCall("edit", "/w/a"), free: allow, want: allow},
		{name: "a file by a rule of a manifest", rules: scoped{permissions.Manifest: {rule("edit", "*", allow)}}, call: fileCall("edit", "/w/a"), free: allow, want: allow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(tt.mode, tt.trusted, builtin.Defaults())...).WithUserManifest(tt.given...)
			for scope, rules := range tt.rules {
				set = set.With(scope, rules...)
			}
			if d := set.Decide(tt.call); d.Action != tt.free {
				t.Errorf("not restricted: got %s (%s), want %s", d.Action, d.Reason, tt.free)
			}
			if d := set.Restrict().Decide(tt.call); d.Action != tt.want {
				t.Errorf("got %s (%s), want %s", d.Action, d.Reason, tt.want)
			}
			child := set.Restrict().Child(nil)
			if d := child.Decide(tt.call); tt.want.Stricter(d.Action) {
				t.Errorf("its child: got %s (%s), want no more than %s", d.Action, d.Reason, tt.want)
			}
			if tt.want == deny {
				child = child.With(permissions.Session, rule("*", "*", allow), rule(tt.call.Tool, tt.call.Resources[0].Name, allow))
				if d := child.Decide(tt.call); d.Action != deny {
					t.Errorf("its child, allowed by the user: %s", d.Action)
				}
			}
		})
	}
}

func everywhere(r permissions.Rule) scoped {
	return scoped{permissions.Manifest: {r}, permissions.User: {r}, permissions.Project: {r}, permissions.Session: {r}}
}

// For a restricted agent "always" is the very command.
func TestSet_RestrictAlways(t *testing.T) {
	prefix := func(j *permissions.Judgement, argv []string) { j.Always = argv[:2] }
	whole := func(j *permissions.Judgement, argv []string) { j.Always, j.AlwaysExact = argv, true }
	tests := []struct {
		name  string
		text  string
		judge func(*permissions.Judgement, []string)
		want  []string // patterns; none: not offered
	}{
		{"a command of a family", "npm run build", prefix, []string{"npm run build"}},
		{"an exact one", "make all", whole, []string{"make all"}},
		{"a star is no wildcard", "npm run a*", prefix, []string{`npm run a\*`}},
		{"one of which nothing is stored", "sh x", func(*permissions.Judgement, []string) {}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := setOf(permissions.ModeAsk, nil).Child(nil).Restrict()
			call := bashCall(ask, tt.text)
			tt.judge(call.Resources[0].Judged, strings.Fields(tt.text))
			d := set.Decide(call)
			var got []string
			for _, r := range d.Always {
				got = append(got, r.Pattern)
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("always stores %q, want %q", got, tt.want)
			}
			if !slices.Equal(d.ToAllow, []string{tt.text}) {
				t.Errorf("may be allowed: %q", d.ToAllow)
			}
			if got == nil {
				return
			}
			longer := bashCall(ask, tt.text+" more")
			tt.judge(longer.Resources[0].Judged, strings.Fields(tt.text+" more"))
			for name, set := range map[string]permissions.Set{
				"for the agent": set.With(permissions.Session, d.Always...), "for the project": set.WithProjectRules(d.Always...),
				"for all": setOf(permissions.ModeAsk, nil).With(permissions.Project, d.Always...),
			} {
				if d := set.Decide(call); d.Action != allow {
					t.Errorf("%s: the same command is %s (%s)", name, d.Action, d.Reason)
				}
				if d := set.Decide(longer); d.Action != ask {
					t.Errorf("%s: a longer one is %s (%s)", name, d.Action, d.Reason)
				}
			}
		})
	}
}
