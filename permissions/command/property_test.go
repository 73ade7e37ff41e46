package command_test

import (
	"testing"

	"pgregory.net/rapid"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools/builtin"
)

// TestRules_DenyOnlyNarrows is E2 over whole command lines as the judge takes them
// apart: adding a deny never makes an answer freer, and taking all allows away keeps
// every deny.
func TestRules_DenyOnlyNarrows(t *testing.T) {
	action := rapid.SampledFrom([]capability.Action{allow, ask, deny})
	scope := rapid.SampledFrom([]permissions.Scope{permissions.Manifest, permissions.User, permissions.Project, permissions.Session})
	rule := rapid.Custom(func(t *rapid.T) permissions.Rule {
		return permissions.Rule{
			Permission: rapid.SampledFrom([]string{"bash", "Bash", "*", "shell.run", "fs.read", "fs.write", "b*"}).Draw(t, "permission"),
			Pattern: rapid.SampledFrom([]string{
				"*", "", "git log*", "git *", "npm run *", "rm *", "cat a", "**/*.txt", "src/**", "/w/a.txt", "echo*", "*x*",
			}).Draw(t, "pattern"),
			Action: action.Draw(t, "action"),
			Source: rapid.SampledFrom([]string{"", permissions.SourceAlways}).Draw(t, "source"),
		}
	})
	part := rapid.SampledFrom([]string{
		"git log", "git push", "npm run x", "rm -rf build", "rm a.txt", "cat src/a", "echo x > a.txt", "nice git log", "cd src", "echo $X",
		"sudo ls", "bash -c 'rm a.txt'", "cat .env", "# nothing", "env A=1 npm run x", "rm -rf /",
	})
	join := rapid.SampledFrom([]string{"; ", " && ", " | ", "\n"})
	rapid.Check(t, func(t *rapid.T) {
		text := part.Draw(t, "first")
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			text += join.Draw(t, "join") + part.Draw(t, "part")
		}
		call := permissions.Call{
			Tool: "bash", Aliases: []string{"Bash"}, Capabilities: []string{capability.CapShellRun}, Text: text,
			Resources: command.Judge(text, testEnv()).Resources(), Vars: capability.Vars{capability.VarWorkspace: {"/w"}}, Home: "/home/ann",
		}
		set := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, rapid.Bool().Draw(t, "trusted"), builtin.Defaults())...)
		bare := set
		for range rapid.IntRange(0, 5).Draw(t, "rules") {
			r, to := rule.Draw(t, "rule"), scope.Draw(t, "scope")
			set = set.With(to, r)
			if r.Action != allow {
				bare = bare.With(to, r)
			}
		}
		before := set.Decide(call)
		denial := rule.Draw(t, "denial")
		denial.Action = deny
		if after := set.With(scope.Draw(t, "to"), denial).Decide(call); before.Action.Stricter(after.Action) {
			t.Fatalf("%q: a deny turned %s (%s) into %s (%s)", text, before.Action, before.Reason, after.Action, after.Reason)
		}
		if after := bare.Decide(call); before.Action.Stricter(after.Action) {
			t.Fatalf("%q: without the allows %s (%s) became %s (%s)", text, before.Action, before.Reason, after.Action, after.Reason)
		}
	})
}
