package subagent

import (
	"maps"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
)

// Check returns the contradictions in a manifest: an undefined variable, a rule for a tool that
// does not exist or that the agent does not have, an allow that the agent's own deny cancels,
// requirements beyond what the host grants to any agent ([pipeline.Ceiling]), and network
// access for a restricted agent. An agent with such a problem is not used (R111). An unknown
// tool in a list is only a warning, because a manifest may be written for several machines.
//
// known reports whether a tool id exists. vars are the defined variables, with or without
// directories.
func Check(m Manifest, known func(tool string) bool, vars capability.Vars) []Problem {
	c := checker{m: m, known: known, vars: capability.Vars{}}
	for name := range vars {
		c.vars[name] = []string{anywhere}
	}
	c.ruleVars = maps.Clone(c.vars)
	c.ruleVars[permissions.VarScratch], c.ruleVars[permissions.VarGrantedHosts] = []string{anywhere}, []string{anywhere}
	c.tools()
	c.rules()
	c.requires()
	return c.problems
}

// anywhere replaces the directories of variables, so that a pattern can be checked as a whole.
const anywhere = "/anywhere"

type checker struct {
	m     Manifest
	known func(string) bool
	// ruleVars adds the variables that only rules may use.
	vars, ruleVars capability.Vars
	problems       []Problem
}

func (c *checker) fault(field, format string, args ...any) {
	c.problems = append(c.problems, problem(c.m.File, c.m.at(field), format, args...))
}

func (c *checker) tools() {
	for field, names := range map[string][]string{"tools": c.m.Tools, "always": c.m.Always} {
		for i, name := range names {
			if c.known(name) {
				continue
			}
			c.fault(itemField(field, i), "%s: there is no tool %q here; the agent does without it", field, name)
			c.problems[len(c.problems)-1].Warning = true
		}
	}
	slices.SortFunc(c.problems, func(a, b Problem) int { return a.Line - b.Line })
}

func (c *checker) rules() {
	for i, rule := range c.m.Rules {
		field := ruleField(i)
		text := ruleText(rule)
		switch {
		case !isCapability(rule.Permission) && !strings.Contains(rule.Permission, "*") && !c.known(rule.Permission):
			c.fault(field, "%s: there is no tool %q; use a tool id, a capability, an mcp: form or *", text, rule.Permission)
			continue
		case rule.Action == capability.Allow && !c.hasTool(rule.Permission):
			c.fault(field, "%s: the agent has no such tool; add it to tools, or take the rule out", text)
		case rule.Action == capability.Allow && c.m.Level == Restricted && rule.Permission == capability.CapNetFetch:
			c.fault(field, "%s: a restricted agent has no network", text)
		}
		if err := c.pattern(rule); err != nil {
			c.fault(field, "%s: %v", text, err)
		}
		if rule.Action != capability.Allow {
			continue
		}
		covers := func(deny permissions.Rule) bool { return deny.Action == capability.Deny && covered(rule, deny) }
		if j := slices.IndexFunc(c.m.Rules, covers); j >= 0 {
			c.fault(field, "%s: can have no effect, for the agent's own %s takes it back", text, ruleText(c.m.Rules[j]))
		}
	}
}

// pattern checks the variables of a rule's pattern and the glob of a path.
func (c *checker) pattern(rule permissions.Rule) error {
	if rule.Pattern == "" {
		return nil
	}
	switch capabilityOf(rule.Permission) {
	case capability.CapFSRead, capability.CapFSWrite:
		_, err := capability.ExpandPath(rule.Pattern, c.ruleVars)
		return err
	case capability.CapNetFetch:
		_, err := capability.ExpandHost(rule.Pattern, c.ruleVars)
		return err
	}
	return nil // the text of a command has no variables
}

// hasTool reports whether the agent has a tool that a permission refers to. The list of tools
// does not name tools of MCP servers and providers.
func (c *checker) hasTool(permission string) bool {
	if c.m.Tools == nil || kinds.Foreign(permission) || strings.Contains(permission, "*") {
		return true
	}
	mine := slices.Concat(c.m.Tools, c.m.Always)
	if !isCapability(permission) {
		return slices.Contains(mine, permission)
	}
	return slices.ContainsFunc(mine, func(tool string) bool {
		// A tool that writes files also reads them, and a command may do anything.
		does := capabilityOf(tool)
		return does == permission || does == capability.CapShellRun || kinds.Foreign(tool) ||
			permission == capability.CapFSRead && does == capability.CapFSWrite
	})
}

func (c *checker) requires() {
	r := c.m.Requires
	ceiling := pipeline.Ceiling()
	for _, paths := range []struct {
		field            string
		patterns, within []string
	}{{"requires.fs.read", r.FS.Read, ceiling.FS.Read}, {"requires.fs.write", r.FS.Write, ceiling.FS.Write}} {
		for i, pattern := range paths.patterns {
			at := itemField(paths.field, i)
			if _, err := capability.ExpandPath(pattern, c.vars); err != nil {
				c.fault(at, "%s: %v", paths.field, err)
			} else if !withinDirs(pattern, paths.within) {
				c.fault(at, "%s: %q is more than this host grants to any agent, which is %s", paths.field, pattern, strings.Join(paths.within, " and "))
			}
		}
	}
	for i, host := range r.Net.Hosts {
		at := itemField("requires.net.hosts", i)
		if _, err := capability.ExpandHost(host, c.vars); err != nil {
			c.fault(at, "requires.net.hosts: %v", err)
		} else if c.m.Level == Restricted {
			c.fault(at, "requires.net.hosts: a restricted agent has no network; set permissions to inherit, or take it out")
		}
	}
	for i, name := range r.Capabilities {
		if !slices.Contains(ceiling.Capabilities, name) {
			c.fault(itemField("requires.capabilities", i), "requires.capabilities: %q is more than this host grants to any agent, which is %s",
				name, strings.Join(ceiling.Capabilities, ", "))
		}
	}
}

// withinDirs reports whether a path pattern lies in one of the directories, which are written
// with variables. A relative pattern lies in the workspace.
func withinDirs(pattern string, dirs []string) bool {
	if !strings.HasPrefix(pattern, "{") && !strings.HasPrefix(pattern, "/") && !strings.Contains(pattern, ":") {
		pattern = "{" + capability.VarWorkspace + "}/" + pattern
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return pathname.Contains(dir, pattern) })
}

// covered reports whether a deny certainly matches everything that an allow matches.
func covered(allow, deny permissions.Rule) bool {
	same := deny.Permission == "*" || deny.Permission == allow.Permission || deny.Permission == capabilityOf(allow.Permission)
	if !same {
		return false
	}
	prefix := strings.TrimRight(deny.Pattern, "*")
	if prefix == "" || deny.Pattern == allow.Pattern {
		return true
	}
	return strings.HasSuffix(deny.Pattern, "*") && !strings.ContainsAny(prefix, `*?[{\`) && strings.HasPrefix(allow.Pattern, prefix) &&
		// A single * of a path ends at a slash.
		(strings.HasSuffix(deny.Pattern, "**") || capabilityOf(allow.Permission) == capability.CapShellRun)
}

func isCapability(permission string) bool {
	return slices.Contains(capability.Names(), permission)
}

// capabilityOf returns the capability that governs tools of a kind. A capability is its own; ""
// means none.
func capabilityOf(permission string) string {
	if isCapability(permission) {
		return permission
	}
	switch builtin.Kind(permission) {
	case kinds.Read, kinds.Search:
		return capability.CapFSRead
	case kinds.Edit, kinds.Delete:
		return capability.CapFSWrite
	case kinds.Execute:
		return capability.CapShellRun
	case kinds.Fetch:
		return capability.CapNetFetch
	}
	return ""
}

// ruleText formats a rule as manifests write it.
func ruleText(rule permissions.Rule) string {
	if rule.Pattern == "" {
		return rule.Action.String() + " " + rule.Permission
	}
	return rule.Action.String() + " " + rule.Permission + "(" + rule.Pattern + ")"
}
