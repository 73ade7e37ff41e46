package pipeline_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"acp-agent/audit"
	"acp-agent/capability"
	"acp-agent/model"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// delegate returns the stage of an agent to which that of s delegates. The user is the
// same.
func (s *stage) delegate(name string, d pipeline.PolicyDelegation, edit func(*pipeline.Options)) *stage {
	o := s.Options
	o.Parent, o.Policy = s.Pipeline, s.policy.Delegate(d)
	o.Agent, o.Names = s.Agent+"/"+name, append(slices.Clone(s.Names), name)
	o.Workspace = s.Workspace.Delegate(workspace.Delegate{
		Agent: o.Agent, Parent: "call_" + name, Path: append(slices.Clone(s.Workspace.Session().Path), "id_"+name),
	})
	if edit != nil {
		edit(&o)
	}
	return &stage{Pipeline: pipeline.New(o), dir: s.dir, policy: o.Policy}
}

func plainRule(permission, pattern string, action capability.Action) permissions.Rule {
	return permissions.Rule{Permission: permission, Pattern: pattern, Action: action, Source: "test"}
}

// An agent has no tool that the agent which delegated to it does not have (R64).
func TestDelegate_Tools(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		sessionOf(o).disabled = func(tool string) (string, bool) { return "switched off", tool == "glob" }
	})
	s.write(t, "a.txt", "text\n")
	child := s.delegate("explore", pipeline.PolicyDelegation{}, func(o *pipeline.Options) {
		o.Session, o.Gate.IncludeTools = nil, []string{"read", "glob", "undo_edit"}
	})
	grandchild := child.delegate("fix", pipeline.PolicyDelegation{}, func(o *pipeline.Options) { o.Gate.IncludeTools = []string{"read", "glob", "edit"} })
	stranger := child.delegate("new", pipeline.PolicyDelegation{}, func(o *pipeline.Options) {
		registry, err := tools.NewRegistry(tooltest.NewMock("read", "mine").Tool, tooltest.NewMock("extra", "more").Tool)
		if err != nil {
			t.Fatal(err)
		}
		o.Registry, o.Gate.IncludeTools = registry, nil
	})
	const absent = "the delegating agent does not have it"
	tests := []struct {
		name, tool string
		agent      *stage
		why        string
	}{
		{"its own", "read", child, ""},
		{"one that is switched off for its parent", "glob", child, absent},
		{"one that is not its own", "edit", child, "edit is not one of the tools of this mode"},
		{"a grandchild's own", "read", grandchild, ""},
		{"one that the main agent has alone", "edit", grandchild, absent},
		{"one that only the main agent lacks", "glob", grandchild, absent},
		{"one that no agent above knows", "extra", stranger, absent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entry, ok := tt.agent.Registry.Get(tt.tool)
			if !ok {
				t.Fatal("no such tool")
			}
			if why := tt.agent.WhyAbsent(entry); why != tt.why {
				t.Errorf("why: %q, want %q", why, tt.why)
			}
			listed := slices.ContainsFunc(tt.agent.Catalog(), func(m model.Tool) bool { return m.Name == tt.tool })
			if listed != (tt.why == "") {
				t.Errorf("in the catalogue: %v", listed)
			}
			if tt.why != "" {
				end := tt.agent.call(t, tt.tool, object{"path": "a.txt"})
				want(t, end, transcript.Rejected, tt.why)
			}
		})
	}
}

// What an agent declares is what its own tools and its manifest require, and it is bounded
// by what those above it declared (R64, R112).
func TestDelegate_Scope(t *testing.T) {
	courier := func(host string) tools.Tool {
		return custom(tools.Spec{Requires: capability.RequirementSet{Net: capability.Net{Hosts: []string{host}}}},
			func(ctx context.Context, rt tools.Runtime) (*tools.Result, error) {
				_, err := rt.Net().Do(ctx, tools.Request{URL: "https://docs.example/x"})
				return nil, err
			})
	}
	registry := func(list ...tools.Tool) *tools.Registry {
		r, err := tools.NewRegistry(list...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	postman := tooltest.NewMock("postman", "sent").Tool
	postman.Requires = capability.RequirementSet{Net: capability.Net{Hosts: []string{"post.example"}}}
	narrow := newStage(t, func(o *pipeline.Options) { o.Registry = registry(courier("api.example"), postman) })
	wide := newStage(t, func(o *pipeline.Options) { o.Registry = registry(courier("*.example"), postman) })
	for _, s := range []*stage{narrow, wide} {
		s.policy.Add(permissions.User, allow("custom"))
	}
	only := func(names ...string) func(*pipeline.Options) {
		return func(o *pipeline.Options) { o.Gate.IncludeTools = names }
	}
	child := wide.delegate("explore", pipeline.PolicyDelegation{}, only("custom"))
	if got, want := child.Declared().Net.Hosts, []string{"*.example"}; !slices.Equal(got, want) {
		t.Errorf("a child declares %v, want %v", got, want)
	}
	needy := wide.delegate("explore", pipeline.PolicyDelegation{}, func(o *pipeline.Options) {
		o.Gate.IncludeTools = []string{"postman"}
		o.Requires = capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}/docs"}}}
	})
	if got := needy.Declared(); !slices.Equal(got.Net.Hosts, []string{"post.example"}) || !slices.Equal(got.FS.Read, []string{"{workspace}/docs"}) {
		t.Errorf("a child with needs of its own declares %+v", got)
	}
	if err := needy.CheckVariables(); err != nil {
		t.Error(err)
	}
	widened := func(o *pipeline.Options) { o.Registry = registry(courier("*.example")) }
	tests := []struct {
		name  string
		agent *stage
		state transcript.State
		text  string
	}{
		{"what all declare", wide.delegate("a", pipeline.PolicyDelegation{}, nil).delegate("b", pipeline.PolicyDelegation{}, nil), transcript.Failed, "this session has no network"},
		{"more than the parent", narrow.delegate("a", pipeline.PolicyDelegation{}, widened), transcript.Failed, "did not declare"},
		{"more than the parent's parent", narrow.delegate("a", pipeline.PolicyDelegation{}, widened).delegate("b", pipeline.PolicyDelegation{}, nil), transcript.Failed, "did not declare"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			end := tt.agent.call(t, "custom", object{})
			if end.State == transcript.Rejected {
				end.State = transcript.Failed // by the scope at once, or by the tool's network
			}
			want(t, end, tt.state, tt.text)
		})
	}
}

// One question is open at a time in the whole session, whichever agent asks it, and the user
// sees which agent that is.
func TestDelegate_AsksOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		child := s.delegate("explore", pipeline.PolicyDelegation{}, nil)
		grandchild := child.delegate("fix", pipeline.PolicyDelegation{}, nil)
		s.answers = []tools.Answer{tools.AllowOnce, tools.AllowOnce, tools.AllowOnce}
		var standing atomic.Int32
		s.onAsk = func(tools.PermissionRequest) {
			if standing.Add(1) > 1 {
				t.Error("two questions stand at once")
			}
			synctest.Wait() // until the others can do nothing but wait
			standing.Add(-1)
		}
		done := make(chan transcript.ToolFinished)
		for _, agent := range []*stage{s, child, grandchild} {
			go func() {
				done <- agent.call(t, "write", object{"path": "a" + filepath.Base(agent.Agent) + ".txt", "content": "x"})
			}()
		}
		for range 3 {
			want(t, <-done, transcript.Done, "")
		}
		var names [][]string
		for _, request := range s.asked {
			names = append(names, request.Agents)
		}
		slices.SortFunc(names, func(a, b []string) int { return len(a) - len(b) })
		if diff := cmp.Diff([][]string{nil, {"explore"}, {"explore", "fix"}}, names); diff != "" {
			t.Errorf("asked by (-want +got)\n%s", diff)
		}
	})
}

// What the user answers on the card of a child holds for that child alone; what they
// keep for the project holds for all (R64, R123).
func TestDelegate_Answers(t *testing.T) {
	type counted struct{ parent, child, sibling, grandchild bool } // allowed without a question
	tests := []struct {
		name   string
		asker  string
		answer tools.Answer
		want   counted
	}{
		{"once", "child", tools.AllowOnce, counted{}},
		{"always", "child", tools.AllowAlways, counted{child: true}},
		{"always, by a grandchild", "grandchild", tools.AllowAlways, counted{grandchild: true}},
		{"always, by the parent", "parent", tools.AllowAlways, counted{parent: true}},
		{"for the project", "grandchild", tools.AllowProject, counted{true, true, true, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s *stage
			s = newStage(t, func(o *pipeline.Options) {
				sessionOf(o).store = func(rules []permissions.Rule) error {
					s.policy.Add(permissions.Project, rules...)
					return nil
				}
			})
			child := s.delegate("explore", pipeline.PolicyDelegation{}, nil)
			agents := map[string]*stage{
				"parent": s, "child": child, "sibling": s.delegate("explore", pipeline.PolicyDelegation{}, nil),
				"grandchild": child.delegate("fix", pipeline.PolicyDelegation{}, nil),
			}
			write := func(agent *stage) transcript.ToolFinished {
				return agent.call(t, "write", object{"path": "a.txt", "content": "x\n"})
			}
			s.answers = []tools.Answer{tt.answer}
			want(t, write(agents[tt.asker]), transcript.Done, "")
			if request := s.asked[0]; request.Remember == "" || !request.Project {
				t.Errorf("offered: %q, for the project %v", request.Remember, request.Project)
			}
			free := func(name string) bool {
				before := len(s.asked)
				end := write(agents[name])
				if asked := len(s.asked) > before; asked == (end.State == transcript.Done) {
					t.Errorf("%s: asked %v, and ended as %q", name, asked, end.State)
				}
				return len(s.asked) == before
			}
			got := counted{free("parent"), free("child"), free("sibling"), free("grandchild")}
			if got != tt.want {
				t.Errorf("allowed without a question: %+v, want %+v", got, tt.want)
			}
		})
	}
}

// "Reject always" on the card of a child denies to it and to its own children, and to
// no one else; on the card of the parent to all, from now on.
func TestDelegate_RejectAlways(t *testing.T) {
	for _, asker := range []string{"child", "parent"} {
		t.Run(asker, func(t *testing.T) {
			s := newStage(t, nil)
			child := s.delegate("explore", pipeline.PolicyDelegation{}, nil)
			agents := map[string]*stage{"parent": s, "child": child, "grandchild": child.delegate("fix", pipeline.PolicyDelegation{}, nil)}
			s.answers = []tools.Answer{tools.RejectAlways}
			write := func(agent *stage) transcript.ToolFinished {
				return agent.call(t, "write", object{"path": "a.txt", "content": "x\n"})
			}
			want(t, write(agents[asker]), transcript.Rejected, "rejected")
			for name, agent := range agents {
				end := write(agent)
				denied := asker == "parent" || name != "parent"
				if byRule := end.Result.Error.DeniedBy == "rule:session"; byRule != denied {
					t.Errorf("%s: refused by %q", name, end.Result.Error.DeniedBy)
				}
			}
		})
	}
}

// A policy follows the one that it was delegated from.
func TestPolicy_Delegate(t *testing.T) {
	edit := permissions.Call{
		Tool: "edit", Capabilities: []string{capability.CapFSRead, capability.CapFSWrite},
		Resources: []permissions.Resource{{Kind: permissions.Path, Name: "/w/a.go"}}, Vars: capability.Vars{capability.VarWorkspace: {"/w"}, permissions.VarScratch: nil},
	}
	mode := func(m permissions.Mode) []permissions.Rule { return permissions.Defaults(m, false, builtin.Defaults()) }
	root := pipeline.NewPolicy(permissions.Set{}.With(permissions.DefaultScope, mode(permissions.ModeAsk)...))
	child := root.Delegate(pipeline.PolicyDelegation{Manifest: []permissions.Rule{plainRule("edit", "*", capability.Allow)}})
	grandchild := child.Delegate(pipeline.PolicyDelegation{})
	given := root.Delegate(pipeline.PolicyDelegation{UserManifest: []permissions.Rule{plainRule("edit", "*", capability.Allow)}})
	answer := plainRule("edit", "/w/a.go", capability.Allow)
	steps := []struct {
		name                          string
		do                            func()
		root, child, grandchild, gave capability.Action
	}{
		{"at first", func() {}, capability.Ask, capability.Ask, capability.Ask, capability.Allow},
		{"a mode that allows", func() { root.SetDefaults(mode(permissions.ModeCode)) }, capability.Allow, capability.Allow, capability.Allow, capability.Allow},
		{"and back", func() { root.SetDefaults(mode(permissions.ModeAsk)) }, capability.Ask, capability.Ask, capability.Ask, capability.Allow},
		{"an answer to the parent", func() { root.Remember(answer) }, capability.Allow, capability.Ask, capability.Ask, capability.Allow},
		{"an answer to the child", func() { child.Add(permissions.Session, answer) }, capability.Allow, capability.Allow, capability.Ask, capability.Allow},
		{"taken back", func() { child.Forget(answer) }, capability.Allow, capability.Ask, capability.Ask, capability.Allow},
		{"a rule that trust in the project brought", func() { root.Replace(permissions.Project, []permissions.Rule{answer}) }, capability.Allow, capability.Allow, capability.Allow, capability.Allow},
		{"and took", func() { root.Replace(permissions.Project, nil) }, capability.Allow, capability.Ask, capability.Ask, capability.Allow},
		{"rules of others, written into the child", func() {
			child.Add(permissions.Project, answer)
			child.SetDefaults([]permissions.Rule{answer})
			child.Replace(permissions.User, []permissions.Rule{plainRule("edit", "*", capability.Deny)})
		}, capability.Allow, capability.Ask, capability.Ask, capability.Allow},
		{"a denial in the child", func() { child.Remember(plainRule("edit", "/w/a.go", capability.Deny)) }, capability.Allow, capability.Deny, capability.Deny, capability.Allow},
		{"a denial in the parent", func() { root.Remember(plainRule("edit", "/w/a.go", capability.Deny)) }, capability.Deny, capability.Deny, capability.Deny, capability.Deny},
	}
	for _, step := range steps {
		step.do()
		for name, agent := range map[string]struct {
			policy *pipeline.Policy
			want   capability.Action
		}{"root": {root, step.root}, "child": {child, step.child}, "grandchild": {grandchild, step.grandchild}, "given": {given, step.gave}} {
			if d := agent.policy.Rules().Decide(edit); d.Action != agent.want {
				t.Errorf("%s: the %s is told %s (%s), want %s", step.name, name, d.Action, d.Reason, agent.want)
			}
		}
	}
}

// Tools, watchdogs and the audit are told whose call it is.
func TestDelegate_IsNamed(t *testing.T) {
	var session tools.Session
	var seen watchdog.Call
	record := &recorder{}
	s := newStage(t, func(o *pipeline.Options) {
		o.Agent, o.Audit = "main", record
		o.Watchdog = watching(func(call watchdog.Call) { seen = call })
	}, custom(tools.Spec{}, func(_ context.Context, rt tools.Runtime) (*tools.Result, error) {
		session = rt.Session()
		return nil, nil
	}))
	s.policy.Add(permissions.User, allow("custom"))
	child := s.delegate("explore", pipeline.PolicyDelegation{}, nil)
	for _, tt := range []struct {
		agent *stage
		name  string
		path  []string
	}{
		{s, "main", []string{"ses_test"}},
		{child, "main/explore", []string{"ses_test", "id_explore"}},
		{child.delegate("fix", pipeline.PolicyDelegation{}, nil), "main/explore/fix", []string{"ses_test", "id_explore", "id_fix"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want(t, tt.agent.call(t, "custom", object{}), transcript.Done, "")
			below := len(tt.path) > 1
			if session.IsSubagent != below || !slices.Equal(session.Path, tt.path) || session.ID != "ses_test" {
				t.Errorf("the tool sees %v %v", session.IsSubagent, session.Path)
			}
			if seen.Agent != tt.name || seen.IsSubagent != below || !slices.Equal(seen.Path, tt.path) {
				t.Errorf("the watchdog sees %q %v %v", seen.Agent, seen.IsSubagent, seen.Path)
			}
			if last := record.list[len(record.list)-1]; last.Agent != tt.name {
				t.Errorf("recorded of %q", last.Agent)
			}
		})
	}
}

type recorder struct{ list []audit.Record }

func (r *recorder) Append(record audit.Record) { r.list = append(r.list, record) }
func (r *recorder) Sync()                      {}

type watching func(watchdog.Call)

func (w watching) Judge(_ context.Context, call watchdog.Call) (permissions.Decision, error) {
	w(call)
	return permissions.Decision{Action: capability.Allow}, nil
}

// In a mode that changes nothing no subagent changes anything, whatever its own options say.
func TestDelegate_Mode(t *testing.T) {
	mode := pipeline.ModePolicy{Mode: "plan", Gate: tools.Gate{IncludeTools: []string{"read", "bash", "write"}}, ReadOnly: true}
	s := newStage(t, func(o *pipeline.Options) { sessionOf(o).modePolicy = func() pipeline.ModePolicy { return mode } })
	s.policy.Add(permissions.User, allow("write"), allow("bash"), allow("edit"))
	free := func(o *pipeline.Options) {
		sessionOf(o).modePolicy = func() pipeline.ModePolicy { return pipeline.ModePolicy{Mode: "code"} }
	}
	for name, child := range map[string]*stage{
		"a child":                        s.delegate("a", pipeline.PolicyDelegation{}, func(o *pipeline.Options) { o.Session = nil }),
		"a child with a mode of its own": s.delegate("a", pipeline.PolicyDelegation{}, free),
		"a grandchild with one":          s.delegate("a", pipeline.PolicyDelegation{}, free).delegate("b", pipeline.PolicyDelegation{}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			want(t, child.call(t, "write", object{"path": "a.txt", "content": "x"}), transcript.Rejected, "in which nothing is changed")
			want(t, child.call(t, "bash", object{"cmd": "make"}), transcript.Rejected, "only commands that plainly only read run")
			want(t, child.call(t, "edit", object{"path": "a.txt", "old_str": "x", "new_str": "y"}), transcript.Rejected, "not one of the tools")
		})
	}
}

// What a restricted agent may start, and what a user is asked of it.
func TestDelegate_Restricted(t *testing.T) {
	s := newStage(t, nil)
	s.policy.Add(permissions.User, append(permissions.DevRules(), plainRule("bash", "make*", capability.Allow))...)
	restricted := s.delegate("general", pipeline.PolicyDelegation{Restricted: true}, nil)
	agents := map[string]*stage{
		"the agent": restricted,
		"its child": restricted.delegate("fix", pipeline.PolicyDelegation{UserManifest: []permissions.Rule{allow("task")}}, nil),
	}
	tests := []struct {
		cmd  string
		want capability.Action
		text string
	}{
		{"ls", capability.Allow, ""},
		{"make all", capability.Allow, ""},
		{"npm run build", capability.Ask, ""},
		{"go test ./...", capability.Ask, ""},
		{"npm ci", capability.Deny, "a restricted subagent has no network"},
		{"make all && git push", capability.Deny, "a restricted subagent has no network"},
		{"nohup make all", capability.Deny, "a restricted subagent runs nothing in the background"},
		{"make all & make", capability.Deny, "a restricted subagent runs nothing in the background"},
		{"sh -c 'make all & true'", capability.Deny, "a restricted subagent runs nothing in the background"},
	}
	for name, agent := range agents {
		for _, tt := range tests {
			t.Run(name+": "+tt.cmd, func(t *testing.T) {
				e := agent.Explain(t.Context(), pipeline.Call{ID: "c", Name: "bash", Input: `{"cmd":"` + tt.cmd + `"}`})
				if e.Action != tt.want || tt.want == capability.Deny && e.Reason != tt.text {
					t.Errorf("got %s (%s), want %s", e.Action, e.Reason, tt.want)
				}
			})
		}
	}
	want(t, restricted.call(t, "bash", object{"cmd": "npm run build"}), transcript.Rejected, "")
	if request := s.asked[0]; request.Remember != "the very command npm run build" || !slices.Equal(request.Agents, []string{"general"}) {
		t.Errorf("offered %q, asked by %q", request.Remember, request.Agents)
	}
}

// Agents read and change their rules at once.
func TestPolicy_DelegateAtOnce(t *testing.T) {
	root := pipeline.NewPolicy(permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...))
	policies := []*pipeline.Policy{root}
	for range 4 {
		policies = append(policies, policies[len(policies)-1].Delegate(pipeline.PolicyDelegation{}), root.Delegate(pipeline.PolicyDelegation{Restricted: true}))
	}
	denied := plainRule("read", "/w/x", capability.Deny)
	call := permissions.Call{
		Tool: "read", Capabilities: []string{capability.CapFSRead}, Vars: capability.Vars{permissions.VarScratch: nil, capability.VarWorkspace: nil},
		Resources: []permissions.Resource{{Kind: permissions.Path, Name: "/w/x"}},
	}
	var working sync.WaitGroup
	for _, policy := range policies {
		working.Go(func() {
			for range 50 {
				policy.Remember(plainRule("edit", "*", capability.Ask))
				policy.Rules().Decide(call)
				root.SetDefaults(permissions.Defaults(permissions.ModeCode, false, builtin.Defaults()))
			}
		})
	}
	working.Wait()
	root.Remember(denied)
	for i, policy := range policies {
		set := policy.Rules()
		if d := set.Decide(call); d.Action != capability.Deny {
			t.Errorf("agent %d is told %s after the user denied it to the main one", i, d.Action)
		}
		if n := len(set.In(permissions.Session)); policy != root && n != 50 {
			t.Errorf("agent %d has %d answers of its own, want 50", i, n)
		}
	}
}
