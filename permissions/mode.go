package permissions

import (
	"slices"

	"acp-agent/capability"
)

// Mode chooses between the shipped default rows. It changes nothing else (R115): a rule
// that a user wrote is as strong in one mode as in another.
type Mode string

// The modes.
const (
	ModeAsk  Mode = "ask"  // every change of a file is asked
	ModeCode Mode = "code" // changes of files in the workspace are allowed
	// ModePlan has the rows of ModeAsk. That nothing is changed in it, whatever rules say,
	// is the capability check's doing (R157).
	ModePlan Mode = "plan"
	// ModeAuto allows what stays in the workspace and what a sandbox confines. It is only
	// for sessions whose processes have one.
	ModeAuto Mode = "auto"
)

// InSandbox is the pattern of the default rows that free the commands which a sandbox
// confines, see Judgement.Sandboxable. In a rule of another scope it matches nothing.
const InSandbox = "{sandbox}"

// planExit is the tool that leaves plan mode. The agent cannot change its mode alone, so
// no rule frees it (R117, R157).
const planExit = "plan_exit"

// inSandbox returns the default row that frees a part of a command because a sandbox
// confines it. A written rule about commands cannot be compared with a command of which not all is
// known, so such a command is asked about where there is a rule.
func (s Set) inSandbox(names []string, p pair) (Rule, bool) {
	if p.Judged.Action != capability.Ask || !p.Judged.Sandboxable || p.Judged.Validation || p.Judged.Open && s.narrows(names, p) {
		return Rule{}, false
	}
	if rule := s.sandboxed(names); rule != nil {
		return *rule, true
	}
	return Rule{}, false
}

// narrows reports whether a written rule denies or asks about some commands, or about some paths
// that a command may touch.
func (s Set) narrows(names []string, p pair) bool {
	for i := int(Manifest); i < scopeCount; i++ {
		if slices.ContainsFunc(s.scopes[i], func(r Rule) bool {
			return r.Action != capability.Allow && slices.ContainsFunc([]string{p.capability, capability.CapFSRead, capability.CapFSWrite}, func(capName string) bool {
				return rankPermission(r.Permission, names, capName) != noMatch
			})
		}) {
			return true
		}
	}
	return false
}

// sandboxed returns the default row that frees what a sandbox confines, if the mode has
// one for a tool of these names.
func (s Set) sandboxed(names []string) *Rule {
	if s.restricted {
		return nil
	}
	i := slices.IndexFunc(s.scopes[DefaultScope], func(r Rule) bool {
		return r.Pattern == InSandbox && r.Action == capability.Allow && slices.Contains(names, r.Permission)
	})
	if i < 0 {
		return nil
	}
	return &s.scopes[DefaultScope][i]
}
