package permissions

import (
	"slices"

	"acp-agent/capability"
)

// NetworkTool is the name under which rules speak of what confined commands connect to: a
// host, or host:port where the port is not 443.
const NetworkTool = "network"

// GitLoginTool and GHLoginTool are the names under which rules speak of the hosts for which confined commands get the login
// that the user's git, or gh, keeps.
const (
	GitLoginTool = "git_login"
	GHLoginTool  = "gh_login"
)

// RestrictedNetwork and RestrictedBackground are why a restricted agent may not run a
// command.
const (
	RestrictedNetwork    = "a restricted subagent has no network"
	RestrictedBackground = "a restricted subagent runs nothing in the background"
)

// Restrict returns the rules of an agent that works unattended, and of
// all its descendants. A program that it starts runs only when the command judge allows it, or a
// rule that the user wrote: in their own file, for this agent, as an answer that
// was kept for the project, or on one of its cards. The profile dev, manifests, the
// project's own allows, trust and a sandbox free nothing. "Always" stores the very
// command. The network and the background are denied, whatever the rules say. Tools from
// elsewhere that have the network are asked about, unless the user allowed them to this
// very agent or for the project.
func (s Set) Restrict() Set {
	s.restricted = true
	return s
}

// starts reports a part of a call that starts a program, or belongs to a command.
func starts(p pair) bool {
	return p.Judged != nil || p.Kind == Command || p.Kind == Program || p.capability == capability.CapShellRun
}

// deniedByRestriction returns the denials of a restricted agent.
func (s Set) deniedByRestriction(call Call, p pair) (Decision, bool) {
	reason := ""
	switch {
	case !s.restricted:
	case p.Judged != nil && p.Judged.Network, runsPrograms(call) && network(p):
		reason = RestrictedNetwork
	case p.Judged != nil && p.Judged.Background:
		reason = RestrictedBackground
	}
	if reason == "" {
		return Decision{}, false
	}
	return Decision{Action: capability.Deny, DeniedBy: DeniedByPolicy, Layer: LayerPolicy, Reason: reason}, true
}

// runsPrograms reports a call of a tool that starts programs, which would be what reaches
// a host that the call names.
func runsPrograms(call Call) bool {
	return slices.Contains(call.Capabilities, capability.CapShellRun) ||
		slices.ContainsFunc(call.Resources, func(r Resource) bool { return r.Kind == Command || r.Kind == Program })
}

func network(p pair) bool {
	return p.Kind == Host || p.capability == capability.CapNetFetch
}

// counts reports whether a rule counts for a pair. An allow of the user's
// configuration that uses an untrusted name does not. For a restricted agent, an allow of a
// program counts only when the user wrote it, and an allow of a tool from elsewhere with
// the network only when they wrote or answered it for this very agent or for the project.
func (s Set) counts(rule Rule, scope Scope, call Call, p pair) bool {
	if rule.Action != capability.Allow {
		return true
	}
	if call.UntrustedName && scope == User && namesServer(rule.Permission) {
		return false
	}
	open := call.reachesOut()
	if !s.restricted || !open && !starts(p) {
		return true
	}
	switch scope {
	case User:
		return rule.Source != sourceDev && (!open || slices.Contains(s.userManifest, rule))
	case Project:
		return rule.Source == SourceAlways
	case Session:
		return true
	default:
		return false
	}
}
