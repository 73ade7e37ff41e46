package mount

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

const (
	maxName = 64
	letters = "abcdefghijklmnopqrstuvwxyz"
	nameSet = letters + "0123456789_"
)

// ToolID is the tool id for a name that a module gives itself. Tool ids are
// snake_case; "my-tool" becomes "my_tool", while the module keeps its name. Any
// other name that is not snake_case is an error (R8).
func ToolID(name string) (string, error) {
	if !moduleName(name) {
		return "", fmt.Errorf("name %.80q: must be snake_case: lower-case letters, digits and _, at most %d, beginning with a letter", name, maxName)
	}
	return strings.ReplaceAll(name, "-", "_"), nil
}

// moduleName reports whether a name is one of a module: snake_case, or the same
// with hyphens.
func moduleName(name string) bool {
	return name != "" && len(name) <= maxName && strings.Contains(letters, name[:1]) && strings.Trim(name, nameSet+"-") == ""
}

// foreignPrefixes mark the tools of servers and toolboxes (R93, M4).
func foreignPrefixes() []string { return []string{"mcp__", ToolboxPrefix} }

// reserved says why a tool from outside may not have a name; "" means that it
// may. Only those of a toolbox have its prefix.
func reserved(name, source string, taken []string) string {
	for _, prefix := range foreignPrefixes() {
		if strings.HasPrefix(name, prefix) && (prefix != ToolboxPrefix || source != tools.Toolbox) {
			return fmt.Sprintf("names that begin with %s are not for modules", prefix)
		}
	}
	switch {
	case slices.Contains(kinds.Locked(), name):
		return fmt.Sprintf("%q is one of the agent's own tools, which no module can replace", name)
	case slices.ContainsFunc(taken, func(t string) bool { return strings.EqualFold(t, name) }):
		return fmt.Sprintf("%q is already the name of a tool", name)
	}
	return ""
}
