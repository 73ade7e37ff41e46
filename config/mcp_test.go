package config_test

import (
	"slices"
	"testing"

	"acp-agent/config"
)

// R92: what an MCP server is given as a key counts as one, a plain variable does not; a
// project's servers are an offer, and never among the person's.
func TestMCP_Keys(t *testing.T) {
	user := `{"mcp": {"servers": {
		"a": {"command": ["a"], "env": {"API_TOKEN": "tok-1", "LANG": "en"}},
		"b": {"url": "https://b/", "headers": {"Authorization": "Bearer tok-2", "X-Team": "red"}, "enabled": false}
	}}}`
	project := `{"mcp": {"servers": {"c": {"command": ["c"]}}}}`
	cfg, err := config.Load(sources(nil, map[string]string{userFile: user, projectFile: project}), workspace)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"tok-1", "Bearer tok-2", "tok-2"}
	for name, got := range map[string][]string{"secrets": cfg.Secrets(), "keys": cfg.Keys()} {
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s %q, want %q", name, got, want)
		}
	}
	if len(cfg.MCP.Servers) != 2 || len(cfg.OfferedServers) != 1 || !cfg.MCP.Servers["b"].Off() || cfg.MCP.Servers["a"].Off() {
		t.Errorf("servers %v, offered %v", cfg.MCP.Servers, cfg.OfferedServers)
	}
}
