package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/config"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/tools"
)

// settings are what the person, and the project in a directory, configured.
func (c *core) settings(cwd string) (session.Settings, error) {
	cfg, err := c.load(cwd)
	if err == nil {
		err = cfg.CheckNames(knownPermission, knownTool)
	}
	if err != nil {
		return session.Settings{}, err
	}
	return session.Settings{
		User: permissionRules(cfg.Rules), Project: permissionRules(cfg.Project), Mode: permissions.Mode(cfg.Mode),
		Limits: limits(cfg.Limits), MaxSteps: cfg.Limits.MaxSteps, Disabled: disabled(cfg.Tools.Disable),
		ReadRoots: cfg.Roots.Read, WriteRoots: cfg.Roots.Write, Editor: cfg.Editor.FS,
	}, nil
}

// knownTool reports whether a name in tools.disable can mean a tool.
func knownTool(name string) bool {
	return name == "*" || name == "mcp:*" || slices.Contains(kinds.Known(), name) || foreign(name)
}

// knownPermission reports whether a rule's name can mean something.
func knownPermission(name string) bool {
	capabilities := []string{capability.CapFSRead, capability.CapFSWrite, capability.CapShellRun, capability.CapNetFetch}
	return knownTool(name) || slices.Contains(capabilities, name) || strings.Contains(name, "*")
}

// foreign reports the name of a tool from elsewhere.
func foreign(name string) bool {
	return strings.HasPrefix(name, "mcp:") || strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "tb__")
}

func permissionRules(from config.Rules) []permissions.Rule {
	var rules []permissions.Rule
	add := func(list []config.Rule, action capability.Action) {
		for _, r := range list {
			rules = append(rules, permissions.Rule{Permission: r.Permission, Pattern: r.Pattern, Action: action, Source: r.Source})
		}
	}
	add(from.Allow, capability.Allow)
	add(from.Ask, capability.Ask)
	add(from.Deny, capability.Deny)
	return rules
}

// disabled says which tools are off, in the words of R9.
func disabled(names []string) func(tool string) (string, bool) {
	off := map[string]bool{}
	for _, name := range names {
		off[name] = true
	}
	return func(tool string) (string, bool) {
		switch {
		case off["*"]:
			return "All tools disabled", true
		case off[tool]:
			return "Tool explicitly disabled", true
		case off["mcp:*"] && strings.HasPrefix(tool, "mcp__"):
			return "MCP tools disabled", true
		}
		return "", false
	}
}

func limits(from config.Limits) tools.Limits {
	l := tools.CanonicalLimits()
	if from.Profile == config.ProfileAmp {
		l = tools.AmpLimits()
	}
	l.BashTimeout = from.BashTimeout.Duration
	if from.ToolTimeout.Duration > 0 {
		l.Timeout = from.ToolTimeout.Duration
	}
	if from.Concurrent > 0 {
		l.Concurrent = from.Concurrent
	}
	l.SidecarBytes = from.SidecarBytes
	return l
}

func reveal(headers map[string]config.Secret) map[string]string {
	plain := make(map[string]string, len(headers))
	for name, value := range headers {
		plain[name] = value.Reveal()
	}
	return plain
}

func extraBody(from map[string]json.RawMessage) map[string]any {
	body := make(map[string]any, len(from))
	for name, value := range from {
		body[name] = value
	}
	return body
}

// windows are the configured context windows by model; model.window counts for
// the configured model.
func windows(from config.Model, name string) map[string]int {
	known := maps.Clone(from.Windows)
	if known == nil {
		known = map[string]int{}
	}
	if _, set := known[name]; !set && from.Window > 0 {
		known[name] = from.Window
	}
	return known
}

func images(from config.Model, name string) map[string]bool {
	if from.Images == nil {
		return nil
	}
	return map[string]bool{name: *from.Images}
}
