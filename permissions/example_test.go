package permissions_test

import (
	"fmt"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools/builtin"
)

// A decision follows from the rules and what a call touches, and names the rule that decided.
func ExampleSet_Decide() {
	rule, err := permissions.ParseRule("edit(docs/**)")
	if err != nil {
		fmt.Println(err)
		return
	}
	rule.Action = capability.Allow
	set := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...).
		With(permissions.User, rule)

	for _, path := range []string{"/w/docs/a.md", "/w/main.go", "/w/docs/.env"} {
		d := set.Decide(permissions.Call{
			Tool:         "edit",
			Capabilities: []string{capability.CapFSRead, capability.CapFSWrite},
			Resources:    []permissions.Resource{{Kind: permissions.Path, Name: path}},
			Vars:         capability.Vars{capability.VarWorkspace: {"/w"}},
		})
		fmt.Printf("%s: %s, %s\n", path, d.Action, d.Reason)
	}
	// Output:
	// /w/docs/a.md: allow, allow rule "docs/**" for edit (user)
	// /w/main.go: ask, edit asks by default
	// /w/docs/.env: deny, Refusing to read env file. Reading secrets is not permitted.
}

// Without a user, what would be asked is denied.
func ExampleHeadless() {
	set := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...)
	d := permissions.Headless(set.Decide(permissions.Call{
		Tool:         "edit",
		Capabilities: []string{capability.CapFSWrite},
		Resources:    []permissions.Resource{{Kind: permissions.Path, Name: "/w/main.go"}},
		Vars:         capability.Vars{capability.VarWorkspace: {"/w"}},
	}))
	fmt.Println(d.Action)
	fmt.Println(d.Reason)
	// Output:
	// deny
	// edit asks by default; there is no one to ask, so the call is denied (headless)
}
