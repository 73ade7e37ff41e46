package pipeline_test

import (
	"testing"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
	"acp-agent/tools/pipeline"
)

// A login is given by a rule or an answer of the user's about logins, and by nothing else.
func TestLogin_ByTheUsersWord(t *testing.T) {
	t.Parallel()
	rule := func(permission, pattern string) permissions.Rule {
		return permissions.Rule{Permission: permission, Pattern: pattern, Action: capability.Allow}
	}
	answered := func(pattern string) permissions.Rule {
		r := rule(permissions.GitLoginTool, pattern)
		r.Source = permissions.SourceAlways
		return r
	}
	denied := func(permission, pattern string) permissions.Rule {
		return permissions.Rule{Permission: permission, Pattern: pattern, Action: capability.Deny}
	}
	https := egress.Login{Scheme: "https", To: egress.Destination{Host: "git.example", Port: 443}}
	unencrypted := https
	unencrypted.Scheme = "http"
	named := https
	named.User = "admin"
	other := https
	other.To.Port = 8443
	for _, tt := range []struct {
		name  string
		scope permissions.Scope
		rules []permissions.Rule
		want  egress.Login
		is    capability.Action
	}{
		{"no rule", permissions.User, nil, https, capability.Ask},
		{"the user's rule", permissions.User, []permissions.Rule{rule("git_login", "git.example")}, https, capability.Allow},
		{"the user's rule, another port", permissions.User, []permissions.Rule{rule("git_login", "git.example")}, other, capability.Ask},
		{"an answer", permissions.Session, []permissions.Rule{answered("git.example")}, https, capability.Allow},
		{"an answer that was kept for the project", permissions.Project, []permissions.Rule{answered("git.example")}, https, capability.Allow},
		{"an answer, a user", permissions.Session, []permissions.Rule{answered("git.example")}, named, capability.Ask},
		{"an answer that was kept for the project, a user", permissions.Project, []permissions.Rule{answered("git.example")}, named, capability.Ask},
		{"the user's rule, a user", permissions.User, []permissions.Rule{rule("git_login", "git.example")}, named, capability.Allow},
		{"the project's file", permissions.Project, []permissions.Rule{rule("git_login", "git.example")}, https, capability.Ask},
		{"a manifest", permissions.Manifest, []permissions.Rule{rule("git_login", "git.example")}, https, capability.Ask},
		{"a rule for the network", permissions.User, []permissions.Rule{rule("network", "git.example")}, https, capability.Ask},
		{"a rule for all", permissions.User, []permissions.Rule{rule("*", "")}, https, capability.Ask},
		{"a denial of one host", permissions.User, []permissions.Rule{rule("git_login", ""), denied("git_login", "git.example")}, https, capability.Deny},
		{"a denial of all", permissions.User, []permissions.Rule{denied("git_login", "")}, https, capability.Deny},
		{"a denial by the project's file", permissions.Project, []permissions.Rule{denied("git_login", "git.example")}, https, capability.Deny},
		{"a denial of the network there", permissions.User, []permissions.Rule{rule("git_login", ""), denied("network", "git.example")}, https, capability.Deny},
		{"a rule for the logins of gh", permissions.User, []permissions.Rule{rule("gh_login", "git.example")}, https, capability.Ask},
		{"a rule, unencrypted", permissions.User, []permissions.Rule{rule("git_login", "git.example")}, unencrypted, capability.Ask},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(o *pipeline.Options) { o.Policy.Add(tt.scope, tt.rules...) })
			call := s.Prepare(pipeline.Call{ID: "1", Name: "bash", Input: `{"cmd":"true"}`})
			got, err := pipeline.JudgeLogin(t.Context(), s.Pipeline, call, tt.want)
			if got.Action != tt.is || (err != nil) != (tt.is == capability.Deny) {
				t.Errorf("%v, %v; want %v", got.Action, err, tt.is)
			}
		})
	}
}

// A token that stands in the place of the name is a secret, too.
func TestLogin_UserIsKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		user, password string
		is             bool
	}{
		{"jo", "long-enough-password", false},
		{"jo.of.somewhere.2026@example.com", "long-enough-password", false},
		{"somebody-with-a-long-name", "long-enough-password", false},
		{"ghp_canaryAAAABBBBCCCCDDDDEEEEFFFFGGGG12", "long-enough-password", true},
		{"0123456789abcdef0123456789abcdef01234567", "anything", true},
		{"canaryAAAABBBBCCCCDDDD", "x-oauth-basic", true},
		{"canaryAAAABBBBCCCCDDDD", "x", true},
	} {
		if is := pipeline.UserIsKey(egress.Login{User: tt.user, Password: tt.password}); is != tt.is {
			t.Errorf("%s with %s: %t", tt.user, tt.password, is)
		}
	}
}
