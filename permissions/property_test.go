package permissions_test

import (
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
			Permission: rapid.SampledFrom([]string{"*", "edit", "read", "bash", "fs.read", "fs.write", "shell.run", "mcp:*", "mcp:s:t", "m*"}).Draw(t, "permission"),
			Pattern: rapid.SampledFrom([]string{
				"", "*", "**", "src/**", "/w/src/a.go", "**/*.go", "/w", "{workspace}/**", "{nope}", "npm *", "npm test", "rm*", "[", "~/x",
			}).Draw(t, "pattern"),
			Action: genAction.Draw(t, "action"),
		}
	})
	genCall = rapid.Custom(func(t *rapid.T) permissions.Call {
		name := rapid.SampledFrom([]string{"/w/src/a.go", "/w/b", "/other/a.go", "/w/.git/config", "/w/.env"}).Draw(t, "path")
		judged := genAction.Draw(t, "judged")
		commands := rapid.SliceOfN(rapid.SampledFrom([]string{"npm test", "npm run x", "rm a", "ls"}), 0, 3).Draw(t, "commands")
		return rapid.SampledFrom([]permissions.Call{
			fileCall("edit", name), fileCall("read", name), bashCall(judged, commands...), {Tool: "mcp__s__t"}, {},
		}).Draw(t, "call")
	})
	genSet = rapid.Custom(func(t *rapid.T) permissions.Set {
		var s permissions.Set
		for range rapid.IntRange(0, 8).Draw(t, "rules") {
			s = s.With(genScope.Draw(t, "scope"), genRule.Draw(t, "rule"))
		}
		if rapid.Bool().Draw(t, "child") {
			s = s.Child([]permissions.Rule{genRule.Draw(t, "manifest")})
			s = s.With(genScope.Draw(t, "scope"), genRule.Draw(t, "rule"))
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

// TestDecide_ChildOnlyNarrows holds R64 for any manifest and any session rules.
func TestDecide_ChildOnlyNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, call := genSet.Draw(t, "set"), genCall.Draw(t, "call")
		child := s.Child(rapid.SliceOfN(genRule, 0, 3).Draw(t, "manifest"))
		child = child.With(permissions.Session, rapid.SliceOfN(genRule, 0, 3).Draw(t, "session")...)
		parent, got := s.Decide(call), child.Decide(call)
		if parent.Action == deny && got.Action != deny {
			t.Fatalf("the parent denies (%s), the child says %s", parent.Reason, got.Action)
		}
		if got.Action == allow && parent.Action != allow {
			t.Fatalf("the child allows what the parent does not: %s", parent.Reason)
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
