package pipeline_test

import (
	"net/netip"
	"testing"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
	"acp-agent/tools/pipeline"
)

// R124: a list opens what it names, of what is not public only what it names by its own address;
// allows for commands open nothing beside it, and a deny closes what it names.
func TestProgram_MayConnect(t *testing.T) {
	t.Parallel()
	rule := func(permission, pattern string, action capability.Action) permissions.Rule {
		return permissions.Rule{Permission: permission, Pattern: pattern, Action: action}
	}
	var rules permissions.Set
	rules = rules.With(permissions.User,
		rule(permissions.NetworkTool, "other.example", capability.Allow),
		rule(permissions.NetworkTool, "bad.a.example", capability.Deny), rule("web_fetch", "worse.a.example", capability.Deny))
	rules = rules.With(permissions.DefaultScope, rule("*", "", capability.Deny))
	hosts := []string{"api.example", "*.a.example", "inner.example:80", "127.0.0.1:80", "localhost:90"}
	loopback := netip.MustParseAddr("127.0.0.1")
	for _, tt := range []struct {
		name     string
		to       egress.Destination
		closed   bool
		unlisted string
	}{
		{"a host", egress.Destination{Host: "api.example", Port: 443}, false, ""},
		{"another port", egress.Destination{Host: "api.example", Port: 80}, true, "api.example:80"},
		{"beneath", egress.Destination{Host: "x.a.example", Port: 443}, false, ""},
		{"the name above", egress.Destination{Host: "a.example", Port: 443}, true, "a.example"},
		{"what commands may reach", egress.Destination{Host: "other.example", Port: 443}, true, "other.example"},
		{"denied to commands", egress.Destination{Host: "bad.a.example", Port: 443}, true, ""},
		{"denied to the web tool", egress.Destination{Host: "worse.a.example", Port: 443}, true, ""},
		{"loopback", egress.Destination{Host: "127.0.0.1", Port: 80, Private: "this machine"}, false, ""},
		{"localhost", egress.Destination{Host: "localhost", Port: 90, Private: "this machine"}, false, ""},
		{"another port of loopback", egress.Destination{Host: "127.0.0.1", Port: 81, Private: "this machine"}, true, "127.0.0.1:81"},
		{"a name that leads to a private address", egress.Destination{Host: "inner.example", Port: 80, Private: "private", Addr: netip.MustParseAddr("10.0.0.1")}, true, "10.0.0.1:80"},
		{"a name that leads to a listed address", egress.Destination{Host: "inner.example", Port: 80, Private: "this machine", Addr: loopback}, false, ""},
		{"a private name beneath", egress.Destination{Host: "x.a.example", Port: 443, Private: "private", Addr: netip.MustParseAddr("10.0.0.1")}, true, "10.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, unlisted, err := pipeline.Program{Hosts: hosts}.MayConnect(rules, tt.to)
			name := ""
			if unlisted != nil {
				name = unlisted.Host
			}
			if (err != nil) != tt.closed || name != tt.unlisted {
				t.Errorf("it lacks %q, %v; want closed %v and %q", name, err, tt.closed, tt.unlisted)
			}
		})
	}
	if _, _, err := (pipeline.Program{Hosts: []string{"*"}}).MayConnect(rules, egress.Destination{Host: "127.0.0.1", Port: 443, Private: "this machine"}); err == nil {
		t.Error("a list of all of the web opened this machine")
	}
}

// R123, M1: an answer opens a host to the program that it was given for, and to nothing else.
func TestProgram_MayConnectAnswered(t *testing.T) {
	t.Parallel()
	asked := pipeline.Program{For: permissions.Identity{Origin: "a", OriginName: "server"}}
	changed := pipeline.Program{For: permissions.Identity{Origin: "b", OriginName: "server"}}
	for _, to := range []egress.Destination{{Host: "api.example", Port: 443}, {Host: "127.0.0.1", Port: 80, Private: "this machine"}} {
		_, unlisted, err := asked.MayConnect(permissions.Set{}, to)
		if err == nil || unlisted == nil {
			t.Fatalf("without an answer: %v, %v", unlisted, err)
		}
		for _, scope := range []permissions.Scope{permissions.Project, permissions.Session} {
			rules := permissions.Set{}.With(scope, unlisted.Always...)
			if _, _, err := asked.MayConnect(rules, to); err != nil {
				t.Errorf("%s in scope %v: %v", to.Pair(), scope, err)
			}
			for name, other := range map[string]pipeline.Program{"that has changed": changed, "without an identity": {}} {
				if _, _, err := other.MayConnect(rules, to); err == nil {
					t.Errorf("%s in scope %v is open to a program %s", to.Pair(), scope, name)
				}
			}
			if _, _, err := asked.MayConnect(rules, egress.Destination{Host: to.Host, Port: 81, Private: to.Private}); err == nil {
				t.Error("another port is open")
			}
			command := permissions.Call{Tool: permissions.NetworkTool, Resources: []permissions.Resource{{Kind: permissions.Host, Name: unlisted.Host}}}
			if d := rules.Decide(command); d.Action == capability.Allow {
				t.Errorf("%s in scope %v is open to commands: %s", to.Pair(), scope, d.Reason)
			}
		}
		commands := unlisted.Always[0]
		commands.For = permissions.Identity{}
		if _, _, err := asked.MayConnect(permissions.Set{}.With(permissions.Session, commands), to); err == nil {
			t.Errorf("what was answered about commands opens %s to a program", to.Pair())
		}
	}
}
