package permissions

import (
	"slices"

	"acp-agent/capability"
)

// sourceTrust marks the default rows that follow from the user's trust in a project.
const sourceTrust = "trust"

// sourceDev marks the rules of the profile dev.
const sourceDev = "profile dev"

// Defaults returns the shipped rules (R117): what the definitions of the agent's own tools
// say, and a question for tools from elsewhere; trusted says that the user trusts this
// project. The mode chooses among the rows and changes nothing else (R115); an unknown one
// has the rows of ModeAsk.
func Defaults(mode Mode, trusted bool, own []capability.ToolDefault) []Rule {
	var free, asked, last, cases []Rule
	for _, tool := range own {
		row := Rule{Permission: tool.Tool, Pattern: "*", Source: "default"}
		switch {
		case tool.Default.Has(capability.AllowAlways):
			row.Action = capability.Allow
			free = append(free, row)
		case tool.Tool == planExit: // no rule frees it, see pinned
			last = append(last, row)
		case !tool.Default.Has(capability.AllowTrusted):
			asked = append(asked, row)
		case trusted:
			row.Action, row.Source = capability.Allow, sourceTrust
			last = append(last, row)
		case mode == ModeAuto: // a sandbox confines what it starts
			row.Action = capability.Allow
			last = append(last, row)
		default:
			last = append(last, row)
		}
	}
	for _, foreign := range []string{"mcp:*", "mcp__*", "tb__*"} {
		asked = append(asked, Rule{Permission: foreign, Pattern: "*", Source: "default"})
	}
	for _, c := range casesOf(mode) {
		for _, tool := range own {
			if tool.Default.Has(c.of) {
				cases = append(cases, Rule{Permission: tool.Tool, Pattern: c.pattern, Action: capability.Allow, Source: "default"})
			}
		}
	}
	return slices.Concat(free, asked, last, cases)
}

// allowed is a case in which a tool that asks otherwise is free, as the pattern of a rule.
type allowed struct {
	of      capability.Default
	pattern string
}

// casesOf are the cases that count in a mode.
func casesOf(mode Mode) []allowed {
	const scratch, workspace = "{" + VarScratch + "}/**", "{" + capability.VarWorkspace + "}/**"
	cases := []allowed{
		{capability.AllowChanges, scratch}, {capability.AllowDeletes, scratch}, {capability.AllowGrantedHosts, "{" + VarGrantedHosts + "}"},
	}
	switch mode {
	case ModeCode:
		cases = append(cases, allowed{capability.AllowChanges, workspace})
	case ModeAuto:
		cases = append(cases, allowed{capability.AllowChanges, workspace}, allowed{capability.AllowDeletes, workspace},
			allowed{capability.AllowSandboxed, InSandbox})
	}
	return cases
}

// DevRules returns the opt-in profile that lets common development commands run without
// a question (R120). It is meant for the user's scope: the judge's denies and the
// findings of validation hold against it.
func DevRules() []Rule {
	var rules []Rule
	for _, name := range []string{
		"npm", "npx", "pnpm", "yarn", "node", "git", "python", "python3", "pip", "pip3", "pytest", "go", "cargo", "make",
	} {
		rules = append(rules, Rule{Permission: "bash", Pattern: name + " *", Action: capability.Allow, Source: sourceDev})
	}
	return rules
}
