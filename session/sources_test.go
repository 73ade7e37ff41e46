package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"acp-agent/capability"
	"acp-agent/loop"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/tools/provider"
)

// tooled serves the tools that list gives, as an MCP server and as a provider.
func tooled(t *testing.T, before func(), list func() string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		before()
		var asked struct {
			ID     *int
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		if asked.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{"content":[{"type":"text","text":"said"}]}`
		switch asked.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case "tools/list":
			result = `{"tools":` + list() + `}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`, *asked.ID, result)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// R87, R91, R94: tools of an MCP server that come between two turns are announced, leave the
// list as it is, and are found and called beside those of a provider.
func TestSession_ServersBesideProviders(t *testing.T) {
	reached := make(chan struct{})
	late := tooled(t, func() { <-reached }, func() string {
		return `[{"name":"late","description":"Oboe.","inputSchema":{"type":"object"}}]`
	})
	web := tooled(t, func() {}, func() string { return `[{"name":"one","description":"Zither."}]` })
	s, rec := open(t, setup{
		script: `{"call":[{"name":"tool_search","args":{"query":"zither"}}]}` + "\n" +
			`{"expect":{"no_tools":["tb__web__one"],"last_result":"Arguments of tb__web__one"},"say":"first"}` + "\n" +
			`{"expect":{"told":"MCP server late, each name after mcp__late__: late"},"call":[{"name":"tool_search","args":{"query":"oboe"}}]}` + "\n" +
			`{"expect":{"no_tools":["tb__web__one","mcp__late__late"],"last_result":"Arguments of mcp__late__late"},"call":[{"name":"mcp__late__late"}]}` + "\n" +
			`{"expect":{"last_result":"said"},"call":[{"name":"tb__web__one"}]}` + "\n" +
			`{"expect":{"last_result":"said"},"say":"second"}`,
		servers: []mcp.Server{{Name: "late", URL: late}},
		settings: &session.Settings{
			Limits: tools.CanonicalLimits(), Offering: session.Offering{Threshold: 1},
			Rules:   session.Rules{User: []permissions.Rule{{Permission: "*", Pattern: "*", Action: capability.Allow}}},
			Sources: session.Sources{Providers: []provider.Config{{Name: "web", Type: "http", URL: web}}},
		},
	})
	s.Start()
	wait(t, prompt(s, "go"), loop.EndTurn)
	close(reached)
	s.AwaitServers(t.Context())
	wait(t, prompt(s, "again"), loop.EndTurn)
	if got := rec.text(); got != "firstsecond" {
		t.Errorf("said %q", got)
	}
}

// M4: an "always" is for the tool as it was described, of a provider as of a server.
func TestSession_ProviderDescribesAnew(t *testing.T) {
	var text atomic.Value
	text.Store("Zither.")
	web := tooled(t, func() {}, func() string {
		return `[{"name":"one","description":"` + text.Load().(string) + `"},{"name":"two","description":"Oboe."}]`
	})
	g := newGround(t)
	g.settings.Providers = []provider.Config{{Name: "web", Type: "http", URL: web}}
	g.answer = func(context.Context, tools.PermissionRequest) (tools.Answer, error) { return tools.AllowAlways, nil }
	s, _ := g.open(strings.Repeat(`{"call":[{"name":"tb__web__one"},{"name":"tb__web__two"}]}`+"\n"+`{"say":"x"}`+"\n", 3))
	for i, turn := range []struct {
		text  string
		asked int
	}{{"Zither.", 2}, {"Trumpet.", 3}, {"Zither.", 4}} {
		text.Store(turn.text)
		wait(t, prompt(s, "go"), loop.EndTurn)
		if len(g.asked) != turn.asked {
			t.Errorf("turn %d: asked %d times, want %d", i+1, len(g.asked), turn.asked)
		}
	}
	if got := g.asked[2].Reason; !strings.Contains(got, `since then its description (was "Zither.", is "Trumpet.") has changed`) {
		t.Errorf("the card says %q", got)
	}
	void := 0
	for _, l := range s.Rules() {
		if l.Void {
			void++
		}
	}
	if rules := inForce(s, permissions.Session, "tb__web__one"); len(rules) != 1 || void != 0 {
		t.Errorf("%d answers about the tool, %d void ones", len(rules), void)
	}
}

// R89, R94: a call by hand starts the sources that may have the tool, by either of its names,
// and none when it is ours.
func TestSession_CallReaches(t *testing.T) {
	tests := map[string]struct {
		tool           string
		server, remote bool
	}{
		"a tool of a server":                    {"mcp__far__one", true, false},
		"a tool of a server by its other name":  {"far_one", true, false},
		"a tool of a provider":                  {"tb__web__one", false, true},
		"one of ours, whose name has two words": {"task_list", false, false},
		"a name that no source has":             {"oboe", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var server, remote atomic.Bool
			list := func() string { return `[{"name":"one","description":"d","inputSchema":{"type":"object"}}]` }
			far := tooled(t, func() { server.Store(true) }, list)
			web := tooled(t, func() { remote.Store(true) }, list)
			s, _ := open(t, setup{
				servers: []mcp.Server{{Name: "far", URL: far}},
				settings: &session.Settings{
					Limits: tools.CanonicalLimits(), Sources: session.Sources{Providers: []provider.Config{{Name: "web", Type: "http", URL: web}}},
					Rules: session.Rules{User: []permissions.Rule{{Permission: "*", Pattern: "*", Action: capability.Allow}}},
				},
			})
			end := s.Call(t.Context(), tt.tool, `{}`)
			if (tt.server || tt.remote) && !strings.Contains(end.Text, "said") {
				t.Errorf("got %q, %+v", end.Text, end.Result)
			}
			if server.Load() != tt.server || remote.Load() != tt.remote {
				t.Errorf("reached the server: %v, the provider: %v", server.Load(), remote.Load())
			}
		})
	}
}
