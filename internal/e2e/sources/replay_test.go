package sources

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
)

// networkScript fetches a page, searches, and calls tools of two MCP servers over HTTP.
const networkScript = `{"when": "^go$", "call": [{"name": "web_fetch", "args": {"url": "%s/page"}}]}
{"expect": {"last_result": "Some **text**."}, "call": [{"name": "web_search", "args": {"query": "gophers"}}]}
{"expect": {"last_result": "A burrow"}, "call": [{"name": "mcp__stream__greet", "args": {}}]}
{"expect": {"last_result": "hello from stream"}, "call": [{"name": "mcp__events__greet", "args": {}}]}
{"expect": {"last_result": "hello from events"}, "say": "All were reached."}
`

// TestReplay_NetworkOff records web_fetch, web_search and MCP servers over both transports of HTTP, by the
// official library, and replays the recording: nothing connects to their addresses.
func TestReplay_NetworkOff(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/page", pages(""))
	mux.HandleFunc("/search", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"results": [{"title": "A burrow", "url": "https://burrow.example/", "content": "Where gophers live."}]}`)
	})
	mux.Handle("/mcp", sdk.NewStreamableHTTPHandler(greeter("stream"), nil))
	mux.Handle("/sse", sdk.NewSSEHandler(greeter("events"), nil))
	var reached atomic.Int32
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: counting{listener, &reached}, Config: &http.Server{Handler: mux}}
	server.Start()
	defer server.Close()
	defer server.CloseClientConnections()
	address := listener.Addr().String()

	home, file := t.TempDir(), filepath.Join(t.TempDir(), "recording.jsonl")
	config := filepath.Join(home, ".config", "acp-agent", "config.jsonc")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Appendf(nil, `{"web": {"private": [%q]}, "search": {"providers": [{"type": "searxng", "url": %q}]}}`, address, server.URL)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	agent := acptest.Start(t, acptest.Options{
		Home: home, Permission: acptest.Answer("allow_once"), Args: []string{"--record", file}, Model: fmt.Sprintf(networkScript, server.URL),
	})
	agent.Initialize("")
	session := agent.OpenSession(map[string]any{"cwd": t.TempDir(), "mcpServers": []any{
		map[string]any{"type": "http", "name": "stream", "url": server.URL + "/mcp", "headers": []any{}},
		map[string]any{"type": "sse", "name": "events", "url": server.URL + "/sse", "headers": []any{}},
	}})
	session.Prompt("go").Ends("end_turn")
	agent.Expect("the end", acptest.Update("agent_message_chunk", "content.text", "All were reached."))
	agent.Close()
	connect := func() int32 { // the last one that is counted, for connections are accepted in their order
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return reached.Load()
	}
	before := connect()
	out, code := agenttest.Replay(t, file)
	if code != 0 || !strings.Contains(out, "no difference") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if n := connect() - before; n != 1 {
		t.Errorf("the replay made %d connections", n-1)
	}
}

// greeter is an MCP server that says who it is.
func greeter(name string) func(*http.Request) *sdk.Server {
	return func(*http.Request) *sdk.Server {
		server := sdk.NewServer(&sdk.Implementation{Name: name, Version: "1"}, nil)
		sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "Greets."}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello from " + name}}}, nil, nil
		})
		return server
	}
}
