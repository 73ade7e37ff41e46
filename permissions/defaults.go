package permissions

import "acp-agent/capability"

// sourceTrust marks the default rows that follow from the person's trust in a project.
const sourceTrust = "trust"

// sourceDev marks the rules of the profile dev.
const sourceDev = "profile dev"

// Defaults returns the shipped rules (R117, without the automatic grant for one
// directory's writes, and with web_fetch asking for hosts that nobody named). trusted
// says that the person trusts this project, which frees the checks, language servers and
// formatters that it configures; so does a sandbox. An unknown mode has the rows of
// ModeAsk.
func Defaults(mode Mode, trusted bool) []Rule {
	var rules []Rule
	add := func(action capability.Action, pattern string, permissions ...string) {
		for _, p := range permissions {
			rules = append(rules, Rule{Permission: p, Pattern: pattern, Action: action, Source: "default"})
		}
	}
	add(capability.Allow, "*",
		"read", "glob", "grep", "finder", "web_search", "todo", "skill", "tool_search",
		"question", "undo_edit", "read_thread", "find_thread", "task_list",
		"task", "oracle", "librarian", "kraken", "repo_overview", "view_image", "plan")
	add(capability.Ask, "*",
		"bash", "write", "edit", "delete_file", "apply_patch", "repo_clone", "web_fetch", "mcp:*", "mcp__*", "tb__*", "plan_exit")
	project, source := capability.Ask, "default"
	switch {
	case trusted:
		project, source = capability.Allow, sourceTrust
	case mode == ModeAuto: // a sandbox confines what they start
		project = capability.Allow
	}
	for _, name := range []string{"check", "lsp", "format_file"} {
		rules = append(rules, Rule{Permission: name, Pattern: "*", Action: project, Source: source})
	}
	add(capability.Allow, "{"+VarScratch+"}/**", "write", "edit", "apply_patch", "delete_file")
	add(capability.Allow, "{"+VarGrantedHosts+"}", "web_fetch")
	return append(rules, modeRows(mode)...)
}

// DevRules returns the opt-in profile that lets common development commands run without
// a question (R120, C-9). It is meant for the user's scope: the judge's denies and the
// findings of validation hold against it.
func DevRules() []Rule {
	var rules []Rule
	for _, name := range []string{
		"npm", "npx", "pnpm", "yarn", "node", "git", "python", "python3", "pip", "pip3", "pytest", "go", "cargo", "make",
	} {
		rules = append(rules, Rule{Permission: "bash", Pattern: name + " *", Action: capability.Allow, Source: sourceDev})
	}
	return rules
}
