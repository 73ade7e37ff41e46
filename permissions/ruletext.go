package permissions

import (
	"errors"
	"fmt"
	"strings"
)

// ParseRule reads the short form of a rule, "tool" or "tool(pattern)", as
// settings and agent manifests have it. Everything between the first parenthesis
// and the last is the pattern, so it may hold others. The rule has no action yet.
func ParseRule(text string) (Rule, error) {
	name, pattern, found := strings.Cut(text, "(")
	if found {
		var closed bool
		if pattern, closed = strings.CutSuffix(pattern, ")"); !closed {
			return Rule{}, fmt.Errorf("expects tool(pattern), found %q without a closing parenthesis at its end", text)
		}
		if pattern == "" {
			return Rule{}, fmt.Errorf("expects tool(pattern), found %q with an empty pattern; write %q to match all", text, name)
		}
	}
	return Rule{Permission: name, Pattern: pattern}, CheckPermission(name)
}

// CheckPermission refuses names that could match nothing, for instance after a
// slip of the hand: a deny that never matches is worse than an error.
func CheckPermission(name string) error {
	if name == "" {
		return errors.New(`expects a permission, such as "bash" or "read(secrets/**)"`)
	}
	if strings.ContainsAny(name, " \t\r\n()") {
		return fmt.Errorf("permission %q holds a blank or a parenthesis; expects a tool id, a capability, an mcp: form or *", name)
	}
	return nil
}
