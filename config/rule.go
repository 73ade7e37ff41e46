package config

import (
	"fmt"

	"acp-agent/permissions"
)

// Rules are permission rules by what they answer (R114). A rule for a tool is written
// "tool" or "tool(pattern)", or as an object with the fields permission and pattern.
type Rules struct {
	Allow []Rule `json:"allow"`
	Ask   []Rule `json:"ask"`
	Deny  []Rule `json:"deny"`
	// Profile adds shipped rules to the user's: "" adds none, ProfileDev those for
	// common development commands (R120).
	Profile string `json:"profile"`
}

// ProfileDev is the profile of rules that lets npm, git, go and the like run without a
// question.
const ProfileDev = "dev"

// Rule is one row.
type Rule struct {
	// Permission is a tool id, a capability, an "mcp:" form or a form with "*".
	Permission string `json:"permission"`
	// Pattern is matched against path, command or host; empty matches all.
	Pattern string `json:"pattern"`
	// Source is the file, line and column where the rule stands, for people.
	Source string `json:"-"`
}

// UnmarshalText implements encoding.TextUnmarshaler for the short form.
func (r *Rule) UnmarshalText(text []byte) error {
	rule, err := permissions.ParseRule(string(text))
	*r = Rule{Permission: rule.Permission, Pattern: rule.Pattern}
	return err
}

// all calls f for each rule, with the name of the field that holds it.
func (r *Rules) all(f func(field string, rule *Rule) error) error {
	for _, list := range []struct {
		name  string
		rules []Rule
	}{{"allow", r.Allow}, {"ask", r.Ask}, {"deny", r.Deny}} {
		for i := range list.rules {
			if err := f(fmt.Sprintf("rules.%s[%d]", list.name, i), &list.rules[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckNames returns an error for the first rule or disabled tool whose name is not
// known. It is apart from Load because the tools are not known to this package.
func (c *Config) CheckNames(permission, tool func(name string) bool) error {
	for _, rules := range []*Rules{&c.Rules, &c.Project, {Allow: c.Offered}} {
		err := rules.all(func(field string, r *Rule) error {
			if permission(r.Permission) {
				return nil
			}
			return fmt.Errorf("%s: %s: unknown permission %q; use a tool id, a capability, an mcp: form or *", r.Source, field, r.Permission)
		})
		if err != nil {
			return err
		}
	}
	for field, names := range map[string][]string{"tools.disable": c.Tools.Disable, "tools.always": c.Tools.Always} {
		for _, name := range names {
			if !tool(name) {
				return fmt.Errorf("config: %s: unknown tool %q", field, name)
			}
		}
	}
	return nil
}
