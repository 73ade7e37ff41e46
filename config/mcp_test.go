package config_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"acp-agent/config"
)

// R92: what an MCP server is given as a key counts as one, a plain variable does not; a
// project's servers are an offer, and never among the user's.
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

// R88: a truth value or an object says how the user signs in; the secret of a client counts
// as a key.
func TestMCP_OAuth(t *testing.T) {
	load := func(user, project string) (*config.Config, error) {
		return config.Load(sources(nil, map[string]string{userFile: user, projectFile: project}), workspace)
	}
	server := func(oauth string) string {
		return `{"mcp": {"tokens": "file", "servers": {"a": {"url": "https://a/", "oauth": ` + oauth + `}}}}`
	}
	for _, tt := range []struct {
		name, user, project string
		off                 bool
		client              string
		problem             string
	}{
		{"off", server(`false`), "", true, "", ""},
		{"on", server(`true`), "", false, "", ""},
		{"a client", server(`{"client_id": "me", "client_secret": "sec-1", "issuer": "https://login/", "scopes": ["x"]}`), "", false, "me", ""},
		{"a text", server(`"no"`), "", false, "", "mcp.servers.a.oauth: expects an object, found a text"},
		{"a secret without a client", server(`{"client_secret": "sec-1"}`), "", false, "", "expects a client_id"},
		{"an issuer that is none", server(`{"client_id": "me", "issuer": "login"}`), "", false, "", "must be an http or https address"},
		{"for a program", `{"mcp": {"servers": {"a": {"command": ["a"], "oauth": {"client_id": "me"}}}}}`, "", false, "", "is for a server with a url"},
		{"an unknown place", `{"mcp": {"tokens": "cloud"}}`, "", false, "", "mcp.tokens"},
		{"a place that a project names", "", `{"mcp": {"tokens": "file"}}`, false, "", "is not for a project to set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := load(tt.user, tt.project)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("%v; want %q", err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.MCP.Servers["a"].OAuth; got.Off != tt.off || got.ClientID != tt.client || cfg.MCP.Tokens != config.TokensFile {
				t.Errorf("%+v, %q", got, cfg.MCP.Tokens)
			}
			if has := slices.Contains(cfg.Keys(), "sec-1"); has != (tt.client != "") {
				t.Errorf("the keys are %q", cfg.Keys())
			}
		})
	}
}

// R92: a server is told the session's directories unless the file says otherwise; a project
// may say so of its own, for it takes something away.
func TestMCP_Roots(t *testing.T) {
	server := func(fields string) string {
		return `{"mcp": {"servers": {"a": {"command": ["a"]` + fields + `}}}}`
	}
	for _, tt := range []struct {
		name, file string
		untold     bool
		problem    string
	}{
		{"left out", server(``), false, ""},
		{"true", server(`, "roots": true`), false, ""},
		{"false", server(`, "roots": false`), true, ""},
		{"a list", server(`, "roots": ["/srv"]`), false, "mcp.servers.a.roots: expects"},
	} {
		for _, place := range []string{userFile, projectFile} {
			t.Run(tt.name+" in "+place, func(t *testing.T) {
				cfg, err := config.Load(sources(nil, map[string]string{place: tt.file}), workspace)
				if tt.problem != "" {
					if err == nil || !strings.Contains(err.Error(), tt.problem) {
						t.Errorf("%v; want %q", err, tt.problem)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				servers := cfg.MCP.Servers
				if place == projectFile {
					servers = cfg.OfferedServers
				}
				if got := servers["a"].NoRoots(); len(servers) != 1 || got != tt.untold {
					t.Errorf("of %d servers the one is not told: %t, want %t", len(servers), got, tt.untold)
				}
			})
		}
	}
}

// R124, T3: a list of hosts has one form; it and questions about hosts keep a server in the sandbox; and
// both are for the user alone.
func TestMCP_Network(t *testing.T) {
	load := func(user, project string) (*config.Config, error) {
		return config.Load(sources(nil, map[string]string{userFile: user, projectFile: project}), workspace)
	}
	cfg, err := load(`{"mcp": {"sandbox": false, "servers": {
		"some": {"command": ["a"], "network": ["API.example.com:443", "127.0.0.1:80"]}, "none": {"command": ["a"], "network": []}, "all": {"command": ["a"]},
		"open": {"command": ["a"], "network": "open"}, "ask": {"command": ["a"], "network": "ask"}
	}}}`, "")
	if err != nil {
		t.Fatal(err)
	}
	servers := cfg.MCP.Servers
	if got := servers["some"].Network.Hosts; !slices.Equal(got, []string{"api.example.com", "127.0.0.1:80"}) {
		t.Errorf("the hosts are %q", got)
	}
	if servers["none"].Network.Hosts == nil || servers["all"].Network.Hosts != nil {
		t.Errorf("no hosts are %#v, the whole network is %#v", servers["none"].Network, servers["all"].Network)
	}
	for name, want := range map[string]bool{"some": false, "none": false, "all": true, "open": true, "ask": false} {
		if got := cfg.MCP.Unconfined(servers[name]); got != want {
			t.Errorf("%s is unconfined: %v", name, got)
		}
	}
	for network, want := range map[string]map[string]bool{
		"":                    {"some": false, "all": false, "open": false, "ask": true, "editor": false, "project": true},
		`"network": "open", `: {"some": false, "all": false, "open": false, "ask": true, "editor": false, "project": false},
		`"network": "ask", `:  {"some": false, "all": true, "open": false, "ask": true, "editor": true, "project": true},
	} {
		cfg, err := load(`{"mcp": {`+network+`"servers": {
			"some": {"command": ["a"], "network": []}, "all": {"command": ["a"]}, "open": {"command": ["a"], "network": "open"}, "ask": {"command": ["a"], "network": "ask"}
		}}}`, "")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for name, server := range cfg.MCP.Servers {
			got[name] = cfg.MCP.AsksHosts(server)
		}
		if got["editor"], got["project"] = cfg.MCP.OthersAskHosts(); !maps.Equal(got, want) {
			t.Errorf("with %q the servers that ask are %v, want %v", network, got, want)
		}
	}
	if _, err := load("", `{"mcp": {"servers": {"c": {"command": ["c"], "network": ["a.example"]}}}}`); err == nil || !strings.Contains(err.Error(), "mcp.servers.c.network: is not for a project to set") {
		t.Errorf("of a project: %v", err)
	}
}
