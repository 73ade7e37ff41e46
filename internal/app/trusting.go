package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/config"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/permissions"
)

// userRules are the rules of the chosen profile, followed by the user's own (R120).
func userRules(from config.Rules) []permissions.Rule {
	rules := permissionRules(from)
	if from.Profile == config.ProfileDev {
		rules = append(permissions.DevRules(), rules...)
	}
	return rules
}

// serverRules are the rules by which the user trusts servers of their own (R92).
func serverRules(servers map[string]config.MCPServer) []permissions.Rule {
	var rules []permissions.Rule
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if server := servers[name]; server.Trust == config.MCPAllow && !server.Off() {
			rules = append(rules, permissions.Rule{
				Permission: "mcp:" + mcp.ID(name) + ":*", Pattern: "*", Action: capability.Allow, Source: server.TrustAt,
			})
		}
	}
	return rules
}

// trusting says what trust in a project allows besides the project's own rules
// (T4): it names the commands and programs.
func trusting(cfg *config.Config) []string {
	var list []string
	for _, check := range cfg.Checks {
		list = append(list, fmt.Sprintf("`check` runs your check %s: %s", kinds.Code(check.Name, maxShownText), kinds.Code(check.Cmd, maxShownText)))
	}
	if len(cfg.Checks) == 0 {
		list = append(list, "`check` runs the checks that you configure; there are none so far")
	}
	return append(list,
		"`format_file` runs formatters, which may load this project's settings and plugins: "+programs(cfg.Format, "gofmt, rustfmt, prettier, black and the like"),
		"`lsp` starts language servers, which may run this project's build scripts and plugins: "+programs(cfg.LSP, "gopls, rust-analyzer, clangd and the like"),
		"`task` may give work to this project's agents, those of `.agents/agents` and `.claude/agents`; your rules hold for them",
		"`bash` asks tools for their version, and package managers for what is installed, although that may load this project's settings",
		"`bash` finds the programs of this project's virtual environment and of `node_modules/.bin`, where your PATH names them",
	)
}

// programs lists what is configured and what is shipped.
func programs(configured map[string][]string, shipped string) string {
	var list []string
	for _, ext := range slices.Sorted(maps.Keys(configured)) {
		if argv := configured[ext]; len(argv) > 0 {
			list = append(list, fmt.Sprintf("%s for %s", kinds.Code(permissions.QuoteArgs(argv), maxShownText), ext))
		}
	}
	return strings.Join(append(list, shipped), ", ")
}

// maxShownText bounds what is shown of a name or a command, in characters.
const maxShownText = 200
