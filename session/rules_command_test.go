package session

import (
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools/pipeline"
)

// What is to be explained is a command as it was typed, with its blanks.
func TestToExplain(t *testing.T) {
	for typed, want := range map[string]string{"explain  git  push": "git  push", "explain\tls": "ls", "explain": "", "explained x": "", "": "", "revoke 1": ""} {
		what, ok := toExplain(typed)
		if what != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", typed, what, ok)
		}
	}
}

// A rule is revoked by the number that the user saw, though another rule came meanwhile.
func TestPermissionsCommand_RevokeByTheNumberShown(t *testing.T) {
	p := newParts(t, Settings{}, nil)
	s, _ := newTestSources(t, p)
	b := &ruleBook{
		policy: pipeline.NewPolicy(permissions.Set{}), registry: p.host.Registry, project: p.project, below: newAgentPolicies(),
		identity: func(string) permissions.Identity { return permissions.Identity{} },
	}
	answer := func(pattern string) permissions.Rule {
		return permissions.Rule{Permission: "bash", Pattern: pattern, Action: capability.Allow, Source: permissions.SourceAlways}
	}
	say := func(text string) string { return permissionsCommand(t.Context(), b, s, false, text) }
	b.policy.Add(permissions.Session, answer("make *"), answer("go *"))
	if text := say(""); !strings.Contains(text, "2. allow `bash(go *)`") {
		t.Fatalf("the list is\n%s", text)
	}
	b.policy.Forget(answer("make *"))
	for _, tt := range []struct{ typed, want string }{
		{"revoke 2", "Revoked: allow `bash(go *)`"},
		{"revoke 1", "is no longer in force"},
		{"revoke 9", "There is no rule with the number `9`"},
		{"explain ls", "Usage: `/permissions` lists the rules"},
	} {
		if text := say(tt.typed); !strings.Contains(strings.ToLower(text), strings.ToLower(tt.want)) {
			t.Errorf("/permissions %s says %q", tt.typed, text)
		}
	}
	if left := b.policy.Rules().In(permissions.Session); len(left) != 0 {
		t.Errorf("rules left: %+v", left)
	}
}
