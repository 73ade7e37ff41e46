package v1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
	"acp-agent/mcp"
)

// R88: the client's servers keep command, address and headers; one of an unknown kind is left out.
func TestServersOf(t *testing.T) {
	var params schema.NewSessionRequest
	if err := schema.Decode(json.RawMessage(`{"cwd": "/w", "mcpServers": [
		{"name": "a", "command": "/bin/a", "args": ["-x"], "env": [{"name": "K", "value": "v=1"}]}, {"type": "pigeon", "name": "p"},
		{"type": "http", "name": "b", "url": "https://b/", "headers": [{"name": "X", "value": "y"}]}, {"type": "sse", "name": "c", "url": "https://c/", "headers": []}
	]}`), &params); err != nil {
		t.Fatal(err)
	}
	want := []mcp.Server{
		{Name: "a", Origin: "the editor", Command: "/bin/a", Args: []string{"-x"}, Env: []string{"K=v=1"}},
		{Name: "b", Origin: "the editor", URL: "https://b/", Header: map[string]string{"X": "y"}},
		{Name: "c", Origin: "the editor", URL: "https://c/", Header: map[string]string{}, SSE: true},
	}
	if diff := cmp.Diff(want, serversOf(params.MCPServers)); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
}
