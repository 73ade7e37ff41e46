// Package permissions decides whether a tool call may run: allow, ask or deny, with
// the reason, the rule and the scope it came from.
//
// It owns the rules and their five scopes, the precedence between them, the default
// rules, the names that are protected from writing and the names that hold secrets.
// Sub-package command judges shell programs and hands its findings over as resources.
//
// It refuses to know the disk, the clock, the network, the model and the protocol.
// Callers resolve paths first and pass both the requested and the resolved name. Every
// decision is a pure, total function of (rules, call); a caller that recovers a panic
// from here must treat it as a deny. The package imports capability, the
// glob matcher and x/text's normaliser, and starts no goroutines.
//
//	defaults := permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())
//	set := permissions.Set{}.With(permissions.DefaultScope, defaults...)
//	set = set.With(permissions.User, permissions.Rule{
//		Permission: "edit", Pattern: "docs/**", Action: capability.Allow,
//	})
//	d := set.Decide(permissions.Call{
//		Tool:         "edit",
//		Capabilities: []string{capability.CapFSRead, capability.CapFSWrite},
//		Resources:    []permissions.Resource{{Kind: permissions.Path, Name: "/w/docs/a.md"}},
//		Vars:         capability.Vars{capability.VarWorkspace: {"/w"}},
//	})
//	// d.Action is capability.Allow, d.Rule the rule above, d.Scope permissions.User.
//
// # Requirements
//
// R30 (secret names), R64 (a subagent is never freer than its parent; what a restricted one
// may start), R92 (which servers a rule means, and how long an answer about their tools holds), R114-R118 (rules, precedence, several resources, defaults and modes, what a card
// offers), R122 (headless), R123 (what "always" stores).
package permissions
