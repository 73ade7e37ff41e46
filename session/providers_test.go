package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"acp-agent/capability"
	"acp-agent/loop"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/tools/provider"
)

// R94: nothing of a provider is waited for when a session is opened, what it lists is
// there in the turn, what it lists anew in the next one, and what is wrong is said once.
func TestSession_Providers(t *testing.T) {
	var list atomic.Value
	list.Store(`[{"name":"one","description":"d"}]`)
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-hang
		var asked struct {
			ID     int
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		result := `{"result":"said"}`
		if asked.Method == "tools/list" {
			result = `{"tools":` + list.Load().(string) + `}`
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`, asked.ID, result)
	}))
	defer server.Close()
	s, rec := open(t, setup{
		script: `{"expect":{"tools":["tb__web__one"]},"call":[{"name":"tb__web__one"}]}` + "\n" +
			`{"expect":{"last_result":"said","no_tools":["tb__web__two"]},"say":"first"}` + "\n" +
			`{"expect":{"tools":["tb__web__one"],"no_tools":["tb__web__two"],"told":"- tb__web__two: d"},"call":[{"name":"tb__web__two"}]}` + "\n" +
			`{"expect":{"last_result":"said","told":"gone, and calls of them fail: tb__web__one"},"say":"second"}`,
		settings: &session.Settings{
			Limits:  tools.CanonicalLimits(),
			Rules:   session.Rules{User: []permissions.Rule{{Permission: "tb__*", Pattern: "*", Action: capability.Allow}}},
			Sources: session.Sources{Providers: []provider.Config{{Name: "web", Type: "http", URL: server.URL}, {Name: "odd", Type: "pigeon"}}},
		},
	})
	s.Start() // the provider hangs, and nothing waits for it
	close(hang)
	wait(t, prompt(s, "go"), loop.EndTurn)
	list.Store(`[{"name":"two","description":"d"}]`)
	wait(t, prompt(s, "again"), loop.EndTurn)
	if got := rec.text(); got != "firstsecond" {
		t.Errorf("said %q", got)
	}
	notices := 0
	for _, e := range rec.all() {
		if noticed("Unknown tool provider type: pigeon")(e) {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("%d notices of what is wrong", notices)
	}
	if status := s.ToolStatus("tb__web__two"); status.Off != "" {
		t.Errorf("status %+v", status)
	}
}

// M4: an "always" ends when the provider describes the tool otherwise than before, also
// when the tool was away in between.
func TestSession_ProviderDescribesAnewLater(t *testing.T) {
	var list atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     int
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		result := `{"result":"said"}`
		if asked.Method == "tools/list" {
			result = `{"tools":` + list.Load().(string) + `}`
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`, asked.ID, result)
	}))
	defer server.Close()
	g := newGround(t)
	g.settings.Providers = []provider.Config{{Name: "web", Type: "http", URL: server.URL}}
	g.answer = func(context.Context, tools.PermissionRequest) (tools.Answer, error) { return tools.AllowAlways, nil }
	call := `{"call":[{"name":"tb__web__one"}]}` + "\n" + `{"say":"done"}` + "\n"
	s, _ := g.open(call + call + `{"say":"away"}` + "\n" + call)
	for i, turn := range []struct {
		list  string
		asked int
	}{
		{`[{"name":"one","description":"d"}]`, 1},
		{`[{"name":"one","description":"d"}]`, 1},
		{`[]`, 1},
		{`[{"name":"one","description":"another"}]`, 2},
	} {
		list.Store(turn.list)
		wait(t, prompt(s, "go"), loop.EndTurn)
		if got := len(g.asked); got != turn.asked {
			t.Errorf("turn %d: asked %d times, want %d", i+1, got, turn.asked)
		}
	}
}
