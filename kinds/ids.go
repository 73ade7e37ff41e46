package kinds

import (
	"slices"
	"strings"
)

// locked are the ids of R3.
var locked = []string{
	"read", "write", "edit", "glob", "grep", "bash", "todo", "task", "question", "web_search", "web_fetch", "skill", "tool_search",
}

// Locked returns the thirteen tool ids that every agent ships (R3), in order.
func Locked() []string { return slices.Clone(locked) }

// Foreign reports whether a name is that of a tool from elsewhere, an MCP server or a
// toolbox, or of a permission for some of them ("mcp:server:*").
func Foreign(name string) bool {
	return strings.HasPrefix(name, "mcp:") || strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "tb__")
}
