package tools

import (
	"fmt"
	"slices"
)

// Gate is what a mode, or a subagent's type, says about tools (R10). The zero
// value admits every native tool and no others; native are the tools that the agent
// ships and those of the user's mount plan.
type Gate struct {
	// IncludeTools are the native tools that are there, by id or alias; nil means
	// all of them. An MCP tool that is named here is there whatever AllowMCP says, and
	// to a subagent a toolbox tool that does not say for which it is, only when it is.
	IncludeTools []string
	// AllowMCP and AllowToolbox admit tools of those sources. Providers count as
	// toolbox tools: both are programs that the user set up.
	AllowMCP, AllowToolbox bool
	// SubagentType is the type of the subagent that runs, "" for the main agent.
	SubagentType string
}

// anySubagent in SubagentTypes admits a tool for every type.
const anySubagent = "all"

// Refuse says why the gate keeps a tool out; "" means that it is admitted.
func (g Gate) Refuse(spec *Spec) string {
	switch spec.Source.Kind {
	case MCP:
		if !g.AllowMCP && !slices.Contains(g.IncludeTools, spec.ID) {
			return "MCP tools are not allowed in " + g.place()
		}
	case Toolbox, Provider:
		return g.refuseToolbox(spec)
	default:
		named := func(name string) bool {
			return name == spec.ID || slices.ContainsFunc(spec.Aliases, func(a Alias) bool { return a.Name == name })
		}
		if g.IncludeTools != nil && !slices.ContainsFunc(g.IncludeTools, named) {
			if g.SubagentType != "" {
				return fmt.Sprintf("%s is not one of the tools of %s", spec.ID, g.SubagentType)
			}
			return fmt.Sprintf("%s is not one of the tools of this mode", spec.ID)
		}
	}
	return ""
}

// place says whose gate it is.
func (g Gate) place() string {
	if g.SubagentType != "" {
		return "subagents of type " + g.SubagentType
	}
	return "this mode"
}

func (g Gate) refuseToolbox(spec *Spec) string {
	switch {
	case !g.AllowToolbox:
		return "toolbox tools are not allowed in " + g.place()
	case g.SubagentType != "" && spec.SubagentTypes == nil && g.IncludeTools != nil && !slices.Contains(g.IncludeTools, spec.ID):
		// It says nothing of subagents, and this one's tools are listed.
		return fmt.Sprintf("%s is not one of the tools of %s", spec.ID, g.SubagentType)
	case g.SubagentType == "" || spec.SubagentTypes == nil,
		slices.Contains(spec.SubagentTypes, anySubagent), slices.Contains(spec.SubagentTypes, g.SubagentType):
		return ""
	}
	return fmt.Sprintf("%s is not for subagents of type %s", spec.ID, g.SubagentType)
}
