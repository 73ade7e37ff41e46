package pipeline_test

import (
	"net/netip"
	"testing"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
	"acp-agent/tools/pipeline"
)

// What opens a name opens no address of this machine and its neighbours to which the name
// leads, today or later: who answers for the name chooses the address (N1, N3).
func TestConnect_PrivateByTheUsersWord(t *testing.T) {
	t.Parallel()
	rule := func(pattern string, action capability.Action) permissions.Rule {
		return permissions.Rule{Permission: permissions.NetworkTool, Pattern: pattern, Action: action}
	}
	answered := func(pattern string) permissions.Rule {
		r := rule(pattern, capability.Allow)
		r.Source = permissions.SourceAlways
		return r
	}
	name := egress.Destination{Host: "host.example", Port: 443}
	to := func(addr, why string) egress.Destination {
		d := name
		d.Addr, d.Private = netip.MustParseAddr(addr), why
		return d
	}
	loopback := egress.Destination{Host: "127.0.0.1", Port: 8081, Private: "loopback"}
	for _, tt := range []struct {
		name  string
		scope permissions.Scope
		rule  permissions.Rule
		to    egress.Destination
		want  capability.Action
	}{
		{"a name", permissions.User, rule("host.example", capability.Allow), name, capability.Allow},
		{"an answered name", permissions.Session, answered("host.example"), name, capability.Allow},
		{"a name that leads inside", permissions.User, rule("host.example", capability.Allow), to("10.1.2.3", "private"), capability.Ask},
		{"an answered name that leads to this machine", permissions.Session, answered("host.example"), to("127.0.0.1", "loopback"), capability.Ask},
		{"an answered name that leads to the metadata of a cloud", permissions.Project, answered("host.example"), to("169.254.169.254", "link-local"), capability.Ask},
		{"the answered address", permissions.Session, answered("10.1.2.3"), to("10.1.2.3", "private"), capability.Allow},
		{"another address than the answered", permissions.Session, answered("10.1.2.3"), to("10.1.2.4", "private"), capability.Ask},
		{"a denied address", permissions.User, rule("10.1.2.3", capability.Deny), to("10.1.2.3", "private"), capability.Deny},
		{"this machine by its port", permissions.User, rule("127.0.0.1:8081", capability.Allow), loopback, capability.Allow},
		{"this machine by another port", permissions.User, rule("127.0.0.1:8080", capability.Allow), loopback, capability.Ask},
		{"this machine by a rule for all", permissions.User, rule("*", capability.Allow), loopback, capability.Ask},
		{"this machine by a rule for many", permissions.User, rule("*.0.0.1:8081", capability.Allow), loopback, capability.Ask},
		{"this machine by a manifest", permissions.Manifest, rule("127.0.0.1:8081", capability.Allow), loopback, capability.Ask},
		{"this machine by the project's file", permissions.Project, rule("127.0.0.1:8081", capability.Allow), loopback, capability.Ask},
		{"a name by the project's file", permissions.Project, rule("host.example", capability.Allow), name, capability.Ask},
		{"a name denied by the project's file", permissions.Project, rule("host.example", capability.Deny), name, capability.Deny},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(o *pipeline.Options) { o.Policy.Add(tt.scope, tt.rule) })
			call := s.Prepare(pipeline.Call{ID: "1", Name: "bash", Input: `{"cmd":"true"}`})
			got, err := pipeline.JudgeConnection(t.Context(), s.Pipeline, call, tt.to)
			if got.Action != tt.want || (err != nil) != (tt.want == capability.Deny) {
				t.Errorf("%v, %v; want %v", got.Action, err, tt.want)
			}
		})
	}
}
