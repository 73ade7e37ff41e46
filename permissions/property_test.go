package permissions_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/capability"
	"acp-agent/permissions"
)

var (
	genAction = rapid.SampledFrom([]capability.Action{allow, ask, deny})
	genScope  = rapid.SampledFrom([]permissions.Scope{
		permissions.DefaultScope, permissions.Manifest, permissions.User, permissions.Project, permissions.Session,
	})
	genRule = rapid.Custom(func(t *rapid.T) permissions.Rule {
		return permissions.Rule{
			Permission: rapid.SampledFrom([]string{
				"*", "edit", "read", "bash", "Bash", "web_fetch", "delete_file", "fs.read", "fs.write", "shell.run", "net.fetch",
				"mcp:*", "mcp:s:*", "mcp:s:t", "mcp__s__t", "m*", "*t",
			}).Draw(t, "permission"),
			Pattern: rapid.SampledFrom([]string{
				"", "*", "**", "src/**", "/w/src/a.go", "**/*.go", "/w", "{workspace}/**", "{nope}", "npm *", "npm test", "npm*", "rm*", "*test*", "[", "~/x",
				"go.dev", "*.go.dev", "{granted-hosts}", "*.dev",
			}).Draw(t, "pattern"),
			Action: genAction.Draw(t, "action"),
			Source: rapid.SampledFrom([]string{"", permissions.SourceAlways, "default", "trust", "profile dev"}).Draw(t, "source"),
		}
	})
	genCall = rapid.Custom(func(t *rapid.T) permissions.Call {
		name := rapid.SampledFrom([]string{"/w/src/a.go", "/w/b", "/other/a.go", "/w/.git/config", "/w/.env"}).Draw(t, "path")
		judged := genAction.Draw(t, "judged")
		commands := rapid.SliceOfN(rapid.SampledFrom([]string{"npm test", "npm run x", "rm a", "ls"}), 0, 3).Draw(t, "commands")
		host := permissions.Resource{Kind: permissions.Host, Name: rapid.SampledFrom([]string{"go.dev", "pkg.go.dev", "example.com", "GO.dev."}).Draw(t, "host")}
		patch := fileCall("apply_patch", name)
		patch.Resources[0].Also = []string{"delete_file"}
		shell := bashCall(judged, commands...)
		for i := range shell.Resources {
			shell.Resources[i].Dynamic = rapid.Bool().Draw(t, "dynamic")
			shell.Resources[i].Judged.Validation = rapid.Bool().Draw(t, "validation")
			shell.Resources[i].Judged.Sandboxable = rapid.Bool().Draw(t, "contained")
			shell.Resources[i].Judged.Network = rapid.IntRange(0, 3).Draw(t, "network") == 0
			shell.Resources[i].Judged.Background = rapid.IntRange(0, 3).Draw(t, "background") == 0
			if rapid.Bool().Draw(t, "always") {
				shell.Resources[i].Judged.Always = strings.Fields(shell.Resources[i].Name)
				shell.Resources[i].Judged.AlwaysExact = rapid.Bool().Draw(t, "exact")
			}
		}
		check := shell
		check.Tool, check.Aliases = "check", nil
		return rapid.SampledFrom([]permissions.Call{
			fileCall("edit", name), fileCall("read", name), patch, shell, check,
			{Tool: "mcp__s__t"},
			{Tool: "mcp:s:u"},
			{},
			{Tool: "web_fetch", Capabilities: []string{capability.CapNetFetch}, Resources: []permissions.Resource{host}, Vars: patch.Vars},
		}).Draw(t, "call")
	})
	genSet = rapid.Custom(func(t *rapid.T) permissions.Set {
		var s permissions.Set
		for range rapid.IntRange(0, 8).Draw(t, "rules") {
			s = s.With(genScope.Draw(t, "scope"), genRule.Draw(t, "rule"))
		}
		for range rapid.IntRange(0, 2).Draw(t, "children") {
			s = s.Child([]permissions.Rule{genRule.Draw(t, "manifest")})
			s = s.WithUserManifest(rapid.SliceOfN(genRule, 0, 1).Draw(t, "given")...)
			s = s.With(genScope.Draw(t, "scope"), genRule.Draw(t, "rule"))
			if rapid.Bool().Draw(t, "restricted") {
				s = s.Restrict()
			}
		}
		return s
	})
)

// TestDecide_DenyOnlyNarrows is E2: adding a deny never makes any answer freer.
func TestDecide_DenyOnlyNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, call := genSet.Draw(t, "set"), genCall.Draw(t, "call")
		before := s.Decide(call)
		added := genRule.Draw(t, "added")
		added.Action = deny
		after := s.With(genScope.Draw(t, "to"), added).Decide(call)
		if before.Action.Stricter(after.Action) {
			t.Fatalf("a deny turned %s into %s (%s)", before.Action, after.Action, after.Reason)
		}
	})
}

// TestDecide_WithoutAKind holds that a deny needs no help: without all rules that allow,
// or all that ask, in every scope, what was denied is denied, and without the rules that
// allow, nothing is freer.
func TestDecide_WithoutAKind(t *testing.T) {
	scopes := []permissions.Scope{permissions.DefaultScope, permissions.Manifest, permissions.User, permissions.Project, permissions.Session}
	rapid.Check(t, func(t *rapid.T) {
		call := genCall.Draw(t, "call")
		removed := rapid.SampledFrom([]capability.Action{allow, ask}).Draw(t, "removed")
		var with, without permissions.Set
		build := func(rules int, label string) {
			for range rapid.IntRange(0, rules).Draw(t, label) {
				r, scope := genRule.Draw(t, "rule"), rapid.SampledFrom(scopes).Draw(t, "scope")
				with = with.With(scope, r)
				if r.Action != removed {
					without = without.With(scope, r)
				}
			}
		}
		build(6, "parent's rules")
		for range rapid.IntRange(0, 2).Draw(t, "children") {
			with, without = with.Child(nil), without.Child(nil)
			build(4, "child's rules")
		}
		before, after := with.Decide(call), without.Decide(call)
		if before.Action == deny && after.Action != deny {
			t.Fatalf("without every %s, a deny (%s) became %s", removed, before.Reason, after.Action)
		}
		if removed == allow && before.Action.Stricter(after.Action) {
			t.Fatalf("without every allow, %s (%s) became %s (%s)", before.Action, before.Reason, after.Action, after.Reason)
		}
	})
}

// TestDecide_PartsOnlyNarrow is R116: one resource more never makes a call freer.
func TestDecide_PartsOnlyNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSet.Draw(t, "set")
		small := bashCall(genAction.Draw(t, "judged"), "npm test")
		large := small
		large.Resources = append(large.Resources[:1:1], bashCall(genAction.Draw(t, "other"), "rm a").Resources...)
		if a, b := s.Decide(small), s.Decide(large); a.Action.Stricter(b.Action) {
			t.Fatalf("%s became %s with a further command", a.Action, b.Action)
		}
	})
}

// TestDecide_AlwaysWorks holds that "always" is offered only where it will help.
func TestDecide_AlwaysWorks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, call := genSet.Draw(t, "set"), genCall.Draw(t, "call")
		d := s.Decide(call)
		if len(d.Always) == 0 {
			return
		}
		if got := s.With(permissions.Session, d.Always...).Decide(call); got.Action != allow {
			t.Fatalf("after always the same call is %s (%s)", got.Action, got.Reason)
		}
	})
}

// FuzzDecide holds that no pattern, name or permission can break the decision, and that
// a matching deny in any spelling of ASCII case is kept.
func FuzzDecide(f *testing.F) {
	f.Add("edit", "src/**", "/w/src/a", "")
	f.Add("*", "[", "::$DATA", "\xff")
	f.Add("fs.write", "{workspace}/{a,b}/**", "/w/a/b", "~")
	f.Fuzz(func(t *testing.T, permission, pattern, name, requested string) {
		call := fileCall("edit", name)
		call.Resources[0].Requested = []string{requested}
		call.Resources = append(call.Resources, permissions.Resource{Kind: permissions.Command, Name: name})
		r := rule(permission, pattern, deny)
		base := setOf(permissions.ModeCode, nil)
		before, after := base.Decide(call), base.With(permissions.User, r).Decide(call)
		if before.Action.Stricter(after.Action) {
			t.Fatalf("deny %q for %q turned %s into %s", pattern, permission, before.Action, after.Action)
		}
		permissions.Secret(name)
		permissions.Protected(name, requested)
	})
}
