package sources

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
)

// faultyScript is a model that looks for a tool of the server, calls %s, and reads a file
// of the project.
const faultyScript = `{"when": "^call$", "call": [{"name": "tool_search", "args": {"query": "fortune"}}]}
{"call": [{"name": "%s", "args": {%s}}]}
{"say": "Called: ${last_result}"}
{"when": "^read$", "call": [{"name": "read", "args": {"path": "a.txt"}}]}
{"expect": {"last_result": "words of the project"}, "say": "Read."}
`

// healthy answers as an MCP server over HTTP with one tool does.
func healthy(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	result := ""
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"x","description":"Tells the fortune.","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"all is well"}]}`
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// endlessly answers with a message that does not end.
func endlessly(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for _, err := io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"x":"`); err == nil; {
		_, err = io.WriteString(w, strings.Repeat("x", 1<<16))
	}
}

// TestMCP_FaultyAddresses is TestMCP_FaultyServers for servers over HTTP.
func TestMCP_FaultyAddresses(t *testing.T) {
	status := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, code) }
	}
	for _, tt := range []struct {
		name  string
		fault http.HandlerFunc // instead of the answers at first
		calls bool             // the fault is that of a call alone
		told  []string
		well  bool // it is healthy after one fault
	}{
		{name: "wants a key", fault: status(http.StatusUnauthorized, "who are you?"), told: []string{"The MCP server bad needs you to sign in: run /mcp login bad."}},
		{name: "fails inside", fault: status(http.StatusInternalServerError, "oops"), told: []string{"The MCP server bad is not connected: Internal Server Error."}},
		{name: "fails inside once", fault: status(http.StatusServiceUnavailable, "soon"), told: []string{"The MCP server bad is not connected: Service Unavailable."}, well: true},
		{name: "is no server of MCP", fault: status(http.StatusNotFound, "no such page"), told: []string{"The MCP server bad is not connected: Not Found."}},
		{name: "answers with a page", fault: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>Welcome</html>")
		}, told: []string{"The MCP server bad is not connected: unsupported content type \"text/html\"."}},
		{name: "answers without end", fault: endlessly, told: []string{"The MCP server bad is not connected: it sent a message of more than 16 MiB."}},
		{name: "never answers", fault: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, told: []string{"The MCP server bad has not answered yet"}},
		{name: "answers a call without end", fault: endlessly, calls: true, told: []string{"Called: mcp server bad is unavailable\nit sent a message of more than 16 MiB"}, well: true},
		{name: "breaks off within a call", fault: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, calls: true, told: []string{"Called: mcp server bad is unavailable"}, well: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var faults atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return // the agent has given up the request
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				if faulty := !tt.calls || strings.Contains(string(body), `"tools/call"`); faulty && (faults.Add(1) == 1 || !tt.well) {
					tt.fault(w, r)
					return
				}
				healthy(w, r)
			}))
			defer server.Close()
			defer server.CloseClientConnections()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("words of the project\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			agent := acptest.Start(t, acptest.Options{Model: fmt.Sprintf(faultyScript, "mcp__bad__x", ""), Permission: acptest.Answer("allow_once"), Env: waitsFor(tt.told)})
			agent.Initialize("")
			session := agent.OpenSession(map[string]any{"cwd": dir, "mcpServers": []any{
				map[string]any{"type": "http", "name": "bad", "url": server.URL, "headers": []any{}},
			}})
			began := time.Now()
			tellsFault(t, session, tt.told...)
			tells(t, session, "read", "Read.")
			if tt.well {
				awaitWell(t, session, began)
			}
		})
	}
}

// awaitWell waits until the server is there again, which takes less than 10 s, and has it
// called.
func awaitWell(t *testing.T, session *acptest.Session, began time.Time) {
	t.Helper()
	for !strings.Contains(say(session, "/mcp"), "`bad`: ready") {
		if took := time.Since(began); took > acptest.Slack(10*time.Second) {
			t.Fatalf("the server is not there again after %v", took)
		}
		time.Sleep(50 * time.Millisecond) // the user asks again
	}
	tells(t, session, "call", "Called: all is well")
}

// tellsFault sends the prompt that calls the tool, and wants parts of the answer. A turn waits
// for servers for a moment only: on a busy machine it may say that the server has not answered
// yet, and the problem stands in /mcp after a while.
func tellsFault(t *testing.T, session *acptest.Session, want ...string) {
	t.Helper()
	got := say(session, "call")
	for _, part := range want {
		_, problem, ok := strings.Cut(part, "is not connected: ")
		for deadline := time.Now().Add(time.Minute); ok && strings.Contains(got, "has not answered yet"); {
			time.Sleep(50 * time.Millisecond) // the user asks again
			told := say(session, "/mcp")
			if strings.Contains(told, strings.TrimSuffix(problem, ".")) { // it ends no sentence there
				part = ""
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("after a minute /mcp says %q, want %q in it", told, problem)
			}
		}
		if !strings.Contains(got, part) {
			t.Errorf("the call was answered with %.2000q, want %q in it", got, part)
		}
	}
}

// say sends a prompt and returns what is said in its turn.
func say(session *acptest.Session, prompt string) string {
	before := len(session.Text())
	session.Prompt(prompt).Ends("end_turn")
	return session.Text()[before:]
}

// tells sends a prompt, and judges what is said in its turn.
func tells(t *testing.T, session *acptest.Session, prompt string, want ...string) {
	t.Helper()
	got := say(session, prompt)
	for _, part := range want {
		if !strings.Contains(got, part) {
			t.Errorf("the prompt %q was answered with %.2000q, want %q in it", prompt, got, part)
		}
	}
}
