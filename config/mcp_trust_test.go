package config_test

import (
	"strings"
	"testing"

	"acp-agent/config"
)

// R92: how far a server is trusted is said in the user's own file, where it stands is
// known, and a project cannot say it.
func TestMCP_Trust(t *testing.T) {
	tests := []struct{ name, user, project, problem string }{
		{"allow", `{"mcp": {"servers": {"a": {"command": ["a"], "trust": "allow"}}}}`, "", ""},
		{"ask", `{"mcp": {"servers": {"a": {"command": ["a"], "trust": "ask"}}}}`, "", ""},
		{"another word", `{"mcp": {"servers": {"a": {"command": ["a"], "trust": "yes"}}}}`, "", `mcp.servers.a.trust: must be one of ask, allow, found "yes"`},
		{"in a project", "{}", `{"mcp": {"servers": {"a": {"command": ["a"], "trust": "allow"}}}}`, "mcp.servers.a.trust: is not for a project to set"},
		{"ask in a project", "{}", `{"mcp": {"servers": {"a": {"command": ["a"], "trust": "ask"}}}}`, "mcp.servers.a.trust: is not for a project to set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{userFile: tt.user}
			if tt.project != "" {
				files[projectFile] = tt.project
			}
			cfg, err := config.Load(sources(nil, files), workspace)
			switch {
			case tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)):
				t.Errorf("got %v, want %q", err, tt.problem)
			case tt.problem == "" && err != nil:
				t.Error(err)
			case tt.problem == "" && (cfg.MCP.Servers["a"].Trust != tt.name || !strings.HasPrefix(cfg.MCP.Servers["a"].TrustAt, userFile+":1:")):
				t.Errorf("trust %+v", cfg.MCP.Servers["a"])
			}
		})
	}
}
