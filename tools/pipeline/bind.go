package pipeline

import (
	"slices"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// bindTo makes a runtime refuse paths that lead elsewhere than when the call was judged.
func (j *judgement) bindTo(runtime *callRuntime) {
	runtime.Bind(j.checkWay())
	runtime.Expect(j.confinement.expected())
}

// checkWay returns the check that a path passes when the tool uses it. The path must lead where it led
// at the capability check, for the rules and on the card (P3, E6). So a link that was changed since
// is refused, even within the session's directories. A path that the call did not name is
// checked against the rules that deny.
func (j *judgement) checkWay() func(workspace.Way) error {
	// judged has the judged target of each named path. judgedTargets is the set of these targets; the
	// value says that the capability check found the same one.
	judged, judgedTargets := map[string]string{}, map[string]bool{}
	for _, resource := range j.judged.Resources {
		if resource.Kind == permissions.Path && len(resource.Requested) > 0 {
			judged[resource.Requested[0]] = resource.Name
			judgedTargets[resource.Name] = resource.Name == j.confinement.checked[resource.Requested[0]]
		}
	}
	checked, rules, call := j.confinement.checked, j.pipeline.Policy.Rules(), j.pipeline.ruleCall(j.Prepared)
	denied := rules.DenyReading(call)
	return func(way workspace.Way) error {
		name, named := judged[way.Asked]
		switch {
		case named && way.Real == name && way.Real == checked[way.Asked]:
			return nil
		case named:
			return redirectedError(way, name)
		case judgedTargets[way.Real], containsTarget(way.Real, judgedTargets):
			return nil // a judged target in another spelling, as when a change is taken back, or a directory above it
		case way.Write:
			return checkUnnamedWrite(rules, call, way)
		case denied != nil && slices.ContainsFunc(way.Names, denied):
			return unnamedError(way, "a rule forbids it")
		}
		return nil
	}
}

// containsTarget reports whether a directory contains a judged target that the capability check found, too.
func containsTarget(dir string, judgedTargets map[string]bool) bool {
	for target, checked := range judgedTargets {
		if checked && pathname.Contains(dir, target) {
			return true
		}
	}
	return false
}

func redirectedError(way workspace.Way, judged string) error {
	return &tools.Error{
		Kind: tools.Denied, Path: way.Asked, DeniedBy: tools.DeniedByCapability,
		Message: way.Asked + " leads to " + way.Real + " by now, and led to " + judged + " when this call was judged; nothing was done",
		Hint:    "make the call again, so that it is judged for where the path leads",
	}
}

// checkUnnamedWrite judges a write to a path that the call did not name, such as the directory of a
// file that it deletes, so that it evades no rule and no protected name.
func checkUnnamedWrite(rules permissions.Set, call permissions.Call, way workspace.Way) error {
	call.Resources = []permissions.Resource{{
		Kind: permissions.Path, Name: way.Real, Requested: way.Names, Capability: capability.CapFSWrite,
	}}
	d := rules.Decide(call)
	if d.Action != capability.Deny && !d.Validation {
		return nil
	}
	return unnamedError(way, d.Reason)
}

func unnamedError(way workspace.Way, why string) error {
	return &tools.Error{
		Kind: tools.Denied, Path: way.Asked, DeniedBy: tools.DeniedByCapability,
		Message: way.Real + " is not what this call was judged for, and was refused: " + why,
	}
}
