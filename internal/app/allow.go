package app

import (
	"fmt"

	"acp-agent/capability"
	"acp-agent/config"
	"acp-agent/permissions"
)

// allowRules reads the rules of --allow, which are written as in the configuration.
func (c *core) allowRules(texts []string) ([]permissions.Rule, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	c.Warm() // mounted tools have names too
	var rules []permissions.Rule
	for _, text := range texts {
		var r config.Rule
		if err := r.UnmarshalText([]byte(text)); err != nil {
			return nil, fmt.Errorf("--allow: %w", err)
		}
		if !knownPermission(r.Permission) && !c.mayBeMounted(r.Permission) {
			return nil, fmt.Errorf("--allow %s: unknown permission %q; use a tool id, a capability, an mcp: form or *", text, r.Permission)
		}
		rules = append(rules, permissions.Rule{Permission: r.Permission, Pattern: r.Pattern, Action: capability.Allow, Source: "--allow"})
	}
	return rules, nil
}
