package permissions_test

import (
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools/builtin"
)

// M1, M4: what the user answered about a tool from elsewhere holds for the tool as it was,
// and the reason says what has changed. A written rule holds as it stands.
func TestDecide_AnswerForATool(t *testing.T) {
	was := permissions.Identity{Description: "d1", Parameters: "p1", Origin: "o1", DescriptionStart: "Reads.", OriginName: "stdio bash"}
	with := func(edit func(*permissions.Identity)) permissions.Identity {
		now := was
		edit(&now)
		return now
	}
	answer := permissions.Rule{Permission: "mcp__s__t", Pattern: "*", Action: allow, Source: permissions.SourceAlways, For: was}
	unbound := answer
	unbound.For = permissions.Identity{}
	written := permissions.Rule{Permission: "mcp:s:*", Action: allow, Source: "config.jsonc:1:1"}
	tests := []struct {
		name   string
		rule   permissions.Rule
		now    permissions.Identity
		want   capability.Action
		reason string
	}{
		{"as it was", answer, was, allow, ""},
		{"as it was, but shown otherwise", answer, with(func(i *permissions.Identity) { i.DescriptionStart, i.OriginName = "", "" }), allow, ""},
		{"another description", answer, with(func(i *permissions.Identity) { i.Description, i.DescriptionStart = "d2", "Sends." }), ask, `since then its description (was "Reads.", is "Sends.") has changed`},
		{"another end of the description", answer, with(func(i *permissions.Identity) { i.Description = "d2" }), ask, "since then its description has changed"},
		{"other arguments", answer, with(func(i *permissions.Identity) { i.Parameters = "p2" }), ask, "since then the schema of its arguments has changed"},
		{"another program", answer, with(func(i *permissions.Identity) { i.Origin, i.OriginName = "o2", "stdio sh" }), ask, `(was "stdio bash", is "stdio sh") has changed`},
		{"all of it", answer, permissions.Identity{Description: "d2", Parameters: "p2", Origin: "o2"}, ask, "the schema of its arguments and the program or address behind it"},
		{"an answer that was for nothing", unbound, was, ask, ""},
		{"a written rule", written, with(func(i *permissions.Identity) { i.Description = "d2" }), allow, ""},
	}
	for _, tt := range tests {
		for _, scope := range []permissions.Scope{permissions.Session, permissions.Project} {
			t.Run(tt.name+" in scope "+scope.String(), func(t *testing.T) {
				set := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAuto, true, builtin.Defaults())...).With(scope, tt.rule)
				d := set.Decide(permissions.Call{Tool: "mcp__s__t", Identity: tt.now})
				if d.Action != tt.want || !strings.Contains(d.Reason, tt.reason) || tt.reason == "" && strings.Contains(d.Reason, "since then") {
					t.Errorf("got %v: %s", d.Action, d.Reason)
				}
				if d.Action == ask && (len(d.Always) != 1 || d.Always[0].For != tt.now) {
					t.Errorf("always would store %+v", d.Always)
				}
			})
		}
	}
}

// R92: an allow of the user's own file that uses a name means the server that they gave it
// to, and one for whatever server there is means all. Denies hold by the name alone.
func TestDecide_UntrustedName(t *testing.T) {
	tests := []struct {
		permission string
		action     capability.Action
		own, other capability.Action
	}{
		{"mcp:s:*", allow, allow, ask},
		{"mcp:s:t", allow, allow, ask},
		{"mcp__s__t", allow, allow, ask},
		{"mcp__s__*", allow, allow, ask},
		{"mcp:s*", allow, allow, ask},
		{"s_t", allow, allow, ask},
		{"mcp:*", allow, allow, allow},
		{"mcp:*:t", allow, allow, allow},
		{"mcp__*", allow, allow, allow},
		{"*", allow, allow, allow},
		{"mcp:s:*", deny, deny, deny},
		{"s_t", deny, deny, deny},
	}
	for _, tt := range tests {
		t.Run(tt.action.String()+" "+tt.permission, func(t *testing.T) {
			rule := permissions.Rule{Permission: tt.permission, Action: tt.action}
			call := permissions.Call{Tool: "mcp__s__t", Aliases: []string{"s_t"}}
			for name, set := range map[string]permissions.Set{
				"in the file":     permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...).With(permissions.User, rule),
				"in a manifest":   permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...).WithUserManifest(rule),
				"below the agent": permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...).With(permissions.User, rule).Child(nil),
			} {
				for borrowed, want := range map[bool]capability.Action{false: tt.own, true: tt.other} {
					call.UntrustedName = borrowed
					if d := set.Decide(call); d.Action != want {
						t.Errorf("%s, borrowed %v: %v, want %v", name, borrowed, d.Action, want)
					}
				}
			}
		})
	}
}
