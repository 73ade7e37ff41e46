package permissions_test

import (
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools/builtin"
)

// TestDecide_CommandPatterns holds the three forms that people write: exact, prefix,
// glob. The prefix of an allow ends where a word does (R114).
func TestDecide_CommandPatterns(t *testing.T) {
	tests := []struct {
		pattern, command string
		allows, denies   bool
	}{
		{"git log*", "git log", true, true},
		{"git log*", "git log --oneline", true, true},
		{"git log*", "git log 'a b'", true, true},
		{"git log*", "git logs", false, true},
		{"git diff*", "git difftool -x sh", false, true},
		{"git log*", "git lo", false, false},
		{"git log *", "git log", true, true},
		{"git log *", "git log -p", true, true},
		{"git log *", "git logs", false, false},
		{"git log", "git log", true, true},
		{"git log", "git log -p", false, false},
		{"git log", "Git Log", false, true},
		{"npm run test:*", "npm run test:unit", true, true},
		{"npm run test-*", "npm run test-unit", true, true},
		{"npm run test*", "npm run test:unit", false, true},
		{"npm*", "npm", true, true},
		{"npm*", "npmx", false, true},
		{"*.txt", "touch a.txt", true, true},
		{"*test*", "npm run tests", true, true},
		{"git*push*", "git -c a=b pushx", true, true},
		{`echo \*`, "echo *", true, true},
		{`echo \*`, "echo a", false, false},
		{`echo a\*`, "echo ab", false, false},
		{"*", "anything", true, true},
		{"", "anything", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.pattern+" "+tt.command, func(t *testing.T) {
			call := bashCall(ask, tt.command)
			if got := setOf("", scoped{permissions.User: {rule("bash", tt.pattern, allow)}}).Decide(call); got.Action == allow != tt.allows {
				t.Errorf("as an allow: %s (%s)", got.Action, got.Reason)
			}
			if got := setOf("", scoped{permissions.User: {rule("bash", tt.pattern, deny)}}).Decide(call); got.Action == deny != tt.denies {
				t.Errorf("as a deny: %s (%s)", got.Action, got.Reason)
			}
		})
	}
}

// TestDecide_WildcardNames holds that names with "*" are one class: R115 knows exact,
// capability and wildcard, then the pattern, then the scope. Only then the longer name.
func TestDecide_WildcardNames(t *testing.T) {
	call := permissions.Call{Tool: "mcp__files__move"}
	for _, tt := range []struct {
		name  string
		rules scoped
		want  capability.Action
	}{
		{"later scope", scoped{permissions.User: {rule("mcp:files:*", "*", ask)}, permissions.Session: {rule("mcp:*", "*", allow)}}, allow},
		{"longer name in one scope", scoped{permissions.User: {rule("mcp:*", "*", ask), rule("mcp:files:*", "*", allow)}}, allow},
		{"whatever the order", scoped{permissions.User: {rule("mcp:files:*", "*", ask), rule("mcp:*", "*", allow)}}, ask},
		{"exact name in a weaker scope", scoped{permissions.Manifest: {rule("mcp:files:move", "*", ask)}, permissions.Session: {rule("mcp:files:*", "*", allow)}}, ask},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := setOf("", tt.rules).Decide(call); got.Action != tt.want {
				t.Errorf("got %s (%s), want %s", got.Action, got.Reason, tt.want)
			}
		})
	}
}

// TestDecide_KeptRules holds that a rule that an answer stored is no wider after a
// restart than on the day: its source goes with it.
func TestDecide_KeptRules(t *testing.T) {
	kept := func(permission, pattern string) permissions.Rule {
		return permissions.Rule{Permission: permission, Pattern: pattern, Action: allow, Source: permissions.SourceAlways}
	}
	judged := func(text string, always []string, exact bool) permissions.Call {
		c := bashCall(ask, text)
		c.Resources[0].Judged.Always, c.Resources[0].Judged.AlwaysExact = always, exact
		return c
	}
	dynamic := judged("touch $X", []string{"touch", "$X"}, true)
	dynamic.Resources[0].Dynamic = true
	validated := judged("rm -rf a", []string{"rm", "-rf", "a"}, true)
	validated.Resources[0].Judged.Validation = true
	for _, tt := range []struct {
		name string
		rule permissions.Rule
		call permissions.Call
		want capability.Action
	}{
		{"the command", kept("bash", "npm test *"), judged("npm test -- -v", []string{"npm", "test"}, false), allow},
		{"an option that the judge does not know", kept("bash", "npm test *"), judged("npm test --prefix /x", []string{"npm", "test", "--prefix", "/x"}, true), ask},
		{"what the judge offers no rule for", kept("bash", "npm test *"), judged("npm test", nil, false), ask},
		{"no rule for every command", kept("bash", "*"), judged("npm test", []string{"npm", "test"}, false), ask},
		{"nor for commands that are not known before", kept("bash", `touch '$X'`), dynamic, ask},
		{"no validation is lifted", kept("bash", "rm -rf a"), validated, ask},
		{"the file", kept("edit", "/w/a"), fileCall("edit", "/w/a"), allow},
		{"nothing beneath it", kept("edit", "/w/a"), fileCall("edit", "/w/a/b"), ask},
		{"no glob", kept("edit", "/w/*"), fileCall("edit", "/w/a"), ask},
		{"a file that is protected", kept("edit", "/w/.git/config"), fileCall("edit", "/w/.git/config"), ask},
		{"a tool without resources", kept("mcp__s__t", "*"), permissions.Call{Tool: "mcp__s__t"}, allow},
	} {
		for _, scope := range []permissions.Scope{permissions.Session, permissions.Project} {
			t.Run(tt.name+" "+scope.String(), func(t *testing.T) {
				if got := setOf("", scoped{scope: {tt.rule}}).Decide(tt.call); got.Action != tt.want {
					t.Errorf("got %s (%s), want %s", got.Action, got.Reason, tt.want)
				}
			})
		}
	}
}

// TestDecide_NothingForEveryCommand holds that a call of the shell that is about no
// command at all, such as a comment, does not free every command (R152).
func TestDecide_NothingForEveryCommand(t *testing.T) {
	d := setOf("", nil).Decide(bashCall(ask))
	if d.Action != ask || len(d.Always) > 0 {
		t.Errorf("%s offers %v", d.Action, d.Always)
	}
}

// TestDefaults_Trust holds what trust in a project changes, and that a user's rule
// comes before it (R117).
func TestDefaults_Trust(t *testing.T) {
	check := bashCall(ask, "make lint")
	check.Tool, check.Aliases = "check", nil
	danger := bashCall(ask, "rm -rf a")
	danger.Tool, danger.Resources[0].Judged.Validation = "check", true
	denied := bashCall(deny, "rm -rf /")
	denied.Tool = "check"
	trusted := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, true, builtin.Defaults())...)
	for _, tt := range []struct {
		name string
		set  permissions.Set
		call permissions.Call
		want capability.Action
	}{
		{"check, not trusted", setOf("", nil), check, ask},
		{"check", trusted, check, allow},
		{"a check that is dangerous", trusted, danger, ask},
		{"a check that is refused", trusted, denied, deny},
		{"a user's ask", trusted.With(permissions.User, rule("check", "*", ask)), check, ask},
		{"for every tool", trusted.With(permissions.User, rule("*", "*", ask)), check, ask},
		{"a user's deny", trusted.With(permissions.User, rule("shell.run", "make *", deny)), check, deny},
		{"bash is no check", trusted, bashCall(ask, "make lint"), ask},
		{"format_file, not trusted", setOf("", nil), fileCall("format_file", "/w/a.go"), ask},
		{"format_file", trusted, fileCall("format_file", "/w/a.go"), allow},
		{"format_file of what runs code", trusted, fileCall("format_file", "/w/.vscode/settings.json"), ask},
		{"edit", trusted, fileCall("edit", "/w/a.go"), ask},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.set.Decide(tt.call); got.Action != tt.want {
				t.Errorf("got %s (%s), want %s", got.Action, got.Reason, tt.want)
			}
		})
	}
}
