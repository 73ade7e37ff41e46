package app

import (
	"fmt"
	"strconv"
	"strings"

	"acp-agent/capability"
	"acp-agent/config"
	"acp-agent/permissions"
)

// ruleOf takes a rule's source, "file:line:column", apart.
func ruleOf(rule permissions.Rule, scope permissions.Scope) *explainedRule {
	out := &explainedRule{
		Permission: rule.Permission, Pattern: rule.Pattern, Action: rule.Action.String(), Scope: scope.String(),
	}
	if out.Pattern == "" {
		out.Pattern = "*"
	}
	rest, _, okColumn := cutNumber(rule.Source)
	file, line, okLine := cutNumber(rest)
	if okColumn && okLine && file != "" {
		out.File, out.Line = file, line
		return out
	}
	out.Source = rule.Source
	return out
}

// cutNumber cuts ":number" off the end of a text.
func cutNumber(text string) (before string, number int, ok bool) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return text, 0, false
	}
	number, err := strconv.Atoi(text[at+1:])
	return text[:at], number, err == nil
}

// parseRule reads a rule as a user writes it in one line: "deny bash(git push*)", or
// without the pattern "ask web_fetch".
func parseRule(text string) (permissions.Rule, error) {
	usage := fmt.Errorf(`rule %q: must be allow, ask or deny and a permission, such as "deny bash(git push*)"`, text)
	word, rest, ok := strings.Cut(strings.TrimSpace(strings.Replace(text, ":", " ", colonAt(text))), " ")
	if !ok {
		return permissions.Rule{}, usage
	}
	rule := permissions.Rule{Permission: strings.TrimSpace(rest), Source: "--rule"}
	switch word {
	case "allow":
		rule.Action = capability.Allow
	case "ask":
		rule.Action = capability.Ask
	case "deny":
		rule.Action = capability.Deny
	default:
		return permissions.Rule{}, usage
	}
	var written config.Rule
	if err := written.UnmarshalText([]byte(rule.Permission)); err != nil {
		return permissions.Rule{}, fmt.Errorf("rule %q: %w", text, err)
	}
	rule.Permission, rule.Pattern = written.Permission, written.Pattern
	if !knownPermission(rule.Permission) {
		return permissions.Rule{}, fmt.Errorf("rule %q: %q is neither a tool nor a capability", text, rule.Permission)
	}
	return rule, nil
}

// colonAt is 1 when the action is followed by a colon, as in "deny:bash(x)".
func colonAt(text string) int {
	word, _, _ := strings.Cut(text, ":")
	if word == "allow" || word == "ask" || word == "deny" {
		return 1
	}
	return 0
}
