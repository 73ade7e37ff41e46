package subagent

import (
	"slices"
	"strings"
)

// foreignTools maps the tool names of other agents to ours.
var foreignTools = map[string]string{
	"Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "MultiEdit": "edit", "Glob": "glob", "Grep": "grep",
	"LS": "read", "Task": "task", "Agent": "task", "TodoWrite": "todo", "TodoRead": "todo", "WebFetch": "web_fetch", "WebSearch": "web_search",
	"Skill": "skill", "AskUserQuestion": "question", "ToolSearch": "tool_search", "LSP": "lsp",
	"todowrite": "todo", "todoread": "todo", "webfetch": "web_fetch", "websearch": "web_search", "list": "read", "patch": "apply_patch",
}

// foreignModels are model names that only one other agent defines.
var foreignModels = []string{"sonnet", "opus", "haiku", "opusplan"}

// foreignFields are fields of other agents that have no equivalent here.
var foreignFields = []string{
	"color", "colour", "skills", "hooks", "mcpServers", "memory", "background", "isolation", "effort", "initialPrompt",
	"version", "license", "author", "metadata", "argument-hint", "top_p", "disable", "prompt", "tags",
}

// toolName returns our name for a tool that a manifest names, and the pattern in parentheses
// after it.
func toolName(written string) (name, pattern string) {
	name, pattern, _ = strings.Cut(written, "(")
	name = strings.TrimSpace(name)
	if ours, ok := foreignTools[name]; ok {
		name = ours
	}
	return name, strings.TrimSuffix(pattern, ")")
}

// tools resolves the names of a list and drops repetitions. A pattern after a name has no
// effect: the agent has the tool, and the rules judge its calls.
func (f *frontMatter) tools(field string, written []string) []string {
	list := []string{}
	for i, text := range written {
		at := itemField(field, i)
		name, pattern := toolName(text)
		if pattern != "" {
			f.note(at, "the pattern of %q has no effect: the agent has the tool %s, and its calls are judged by the rules as always; write the pattern under permissions", text, name)
		}
		if name == "*" {
			f.note(at, "a * has no effect; leave the field out for all tools")
			continue
		}
		if !slices.Contains(list, name) {
			// Check refers to the tool by its index in the new list.
			f.lines[itemField(field, len(list))] = f.lines[at]
			list = append(list, name)
		}
	}
	return list
}
