package session

import (
	"path/filepath"
	"slices"

	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
)

// The tools that belong to plan mode.
const (
	planTool     = "plan"
	planExitTool = "plan_exit"
	// shellTool is there in plan mode for commands that plainly only read.
	shellTool = "bash"
)

// modePolicies are the policies of plan mode and of all other modes. They are made again when the tools
// change.
type modePolicies struct{ plan, other pipeline.ModePolicy }

// newModePolicies sorts the tools by mode. Plan mode has plan, plan_exit and bash, and those of the
// agent's own tools that declare no write access, no command and no capability, and whose kind is not
// edit: a tool that delegates may edit although it declares nothing itself. It has no tools from
// elsewhere, because what they declare is not trusted.
func newModePolicies(all []*tools.Entry, scratch string) *modePolicies {
	var reading, usual []string
	for _, entry := range all {
		if entry.ID != planExitTool {
			usual = append(usual, entry.ID)
		}
		r := entry.Requires
		plain := !entry.Foreign() && len(r.FS.Write)+len(r.Shell)+len(r.Capabilities) == 0 && entry.Kind != kinds.Edit
		if plain || slices.Contains([]string{planTool, planExitTool, shellTool}, entry.ID) {
			reading = append(reading, entry.ID)
		}
	}
	return &modePolicies{
		plan: pipeline.ModePolicy{
			Mode: string(permissions.ModePlan), Gate: tools.Gate{IncludeTools: reading}, Always: []string{planTool, planExitTool},
			Hint: "The user can change the mode; plan_exit asks them to.", ReadOnly: true, Writable: []string{filepath.Join(scratch, tools.PlanFile)},
		},
		other: pipeline.ModePolicy{Gate: tools.Gate{IncludeTools: usual, AllowMCP: true, AllowToolbox: true}},
	}
}

// sortTools sorts the tools of a registry by mode.
func (a *agents) sortTools(registry *tools.Registry) {
	a.modePolicies.Store(newModePolicies(registry.All(), a.work.Session().Scratch))
}

// modePolicy is the policy of a mode for the main agent (R10, R157).
func (a *agents) modePolicy(mode permissions.Mode) pipeline.ModePolicy {
	if mode == permissions.ModePlan {
		return a.modePolicies.Load().plan
	}
	other := a.modePolicies.Load().other
	other.Mode = string(mode)
	return other
}

// subagentModePolicy is the policy of a mode for a subagent, which cannot ask for another mode.
func (a *agents) subagentModePolicy(mode permissions.Mode) pipeline.ModePolicy {
	policy := a.modePolicy(mode)
	if policy.Hint != "" {
		policy.Hint = "Only the user can change the mode. Say in your last message what is to be changed."
	}
	return policy
}
