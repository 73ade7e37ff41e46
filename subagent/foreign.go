package subagent

import (
	"slices"
	"strings"
)

// foreignTools are the names that other agents have for tools of ours.
var foreignTools = map[string]string{
	"Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "MultiEdit": "edit", "Glob": "glob", "Grep": "grep",
	"LS": "read", "Task": "task", "Agent": "task", "TodoWrite": "todo", "TodoRead": "todo", "WebFetch": "web_fetch", "WebSearch": "web_search",
	"Skill": "skill", "AskUserQuestion": "question", "ToolSearch": "tool_search", "LSP": "lsp",
	"todowrite": "todo", "todoread": "todo", "webfetch": "web_fetch", "websearch": "web_search", "list": "read", "patch": "apply_patch",
}

// foreignModels are names of models that mean something to one other agent alone.
var foreignModels = []string{"sonnet", "opus", "haiku", "opusplan"}

// foreignFields are fields of other agents that have no counterpart here.
var foreignFields = []string{
	"color", "colour", "skills", "hooks", "mcpServers", "memory", "background", "isolation", "effort", "initialPrompt",
	"version", "license", "author", "metadata", "argument-hint", "top_p", "disable", "prompt", "tags",
}

// toolName is our name of a tool that a manifest names in its own way. A pattern behind
// it is returned apart.
func toolName(written string) (name, pattern string) {
	name, pattern, _ = strings.Cut(written, "(")
	name = strings.TrimSpace(name)
	if ours, ok := foreignTools[name]; ok {
		name = ours
	}
	return name, strings.TrimSuffix(pattern, ")")
}

// tools resolves the names of a list, each once. A pattern behind a name grants
// nothing: the tool is there, and its calls are judged as always.
func (h *head) tools(field string, written []string) []string {
	list := []string{}
	for i, text := range written {
		at := itemField(field, i)
		name, pattern := toolName(text)
		if pattern != "" {
			h.note(at, "the pattern of %q has no effect: the agent has the tool %s, and its calls are judged by the rules as always; write the pattern under permissions", text, name)
		}
		if name == "*" {
			h.note(at, "a * has no effect; leave the field out for all tools")
			continue
		}
		if !slices.Contains(list, name) {
			// The place in the list that Check will name.
			h.lines[itemField(field, len(list))] = h.lines[at]
			list = append(list, name)
		}
	}
	return list
}
