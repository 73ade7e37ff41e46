//go:build unix

package sources

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/testfile"
)

var update = flag.Bool("update", false, "write testdata/firstrequest again")

// listedServer is an MCP server by its name, its title, and what it lists.
type listedServer struct {
	name, title string
	tools       []*sdk.Tool
}

// TestFirstRequest prints what the first request of a session holds, by the real program:
// the system text, the tools with their bytes, and the messages. The files are the
// documentation of it; `go test ./internal/e2e/sources -run TestFirstRequest -update` writes them
// again (R87, R138).
func TestFirstRequest(t *testing.T) {
	for _, tt := range []struct {
		name     string
		window   int
		servers  []listedServer
		headless bool
	}{
		{name: "no_servers"},
		{name: "three_servers_of_five", servers: []listedServer{five("calendar"), five("notes"), five("tickets")}},
		{name: "one_server_of_500", servers: []listedServer{{"github", "GitHub MCP Server", published(t, 500)}}},
		{name: "window_of_8k", window: 8192},
		{name: "headless", headless: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := modeltest.New(t, modeltest.Step{Text: "Hello."})
			config := filepath.Join(t.TempDir(), "config.jsonc")
			settings := map[string]any{"lsp": map[string]any{".sh": []string{"sh"}}} // so that there is one
			if tt.window > 0 {
				settings["model"] = map[string]any{"window": tt.window}
			}
			testfile.JSON(t, config, settings)
			env := []string{"ACP_AGENT_CONFIG=" + config, "OPENAI_BASE_URL=" + model.URL, "OPENAI_MODEL=fake"}
			cwd := filepath.Join(t.TempDir(), "project")
			if err := os.MkdirAll(filepath.Join(cwd, "src"), 0o755); err != nil {
				t.Fatal(err)
			}
			if tt.headless {
				runHello(t, cwd, env)
			} else {
				sayHello(t, cwd, env, tt.servers)
			}
			golden := filepath.Join("..", "..", "..", "testdata", "firstrequest", tt.name+".golden")
			got := printed(t, chatOf(t, model.Requests()), cwd)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
				t.Errorf("the first request (-want +got):\n%s", diff)
			}
		})
	}
}

// sayHello has an editor say hello, when all servers are there.
func sayHello(t *testing.T, cwd string, env []string, servers []listedServer) {
	agent := acptest.Start(t, acptest.Options{Env: env})
	agent.Initialize("")
	offered := []any{}
	for _, server := range servers {
		offered = append(offered, map[string]any{"type": "http", "name": server.name, "url": server.start(t), "headers": []any{}})
	}
	session := agent.OpenSession(map[string]any{"cwd": cwd, "mcpServers": offered})
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		text := say(session, "/mcp")
		if strings.Count(text, ": ready") == len(servers) {
			break
		}
		if time.Since(began) > acptest.Slack(20*time.Second) {
			t.Fatalf("the servers are not ready:\n%s", text)
		}
	}
	tells(t, session, "hello", "Hello.")
}

// runHello says hello in a run without a user.
func runHello(t *testing.T, cwd string, env []string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(self, "run", "--cwd", cwd, "hello")
	cmd.Env = append(os.Environ(), acptest.EnvProgram+"=1", "GORACE=atexit_sleep_ms=0")
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA"} {
		cmd.Env = append(cmd.Env, name+"="+home)
	}
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
}

// start serves the tools, and returns the address.
func (s listedServer) start(t *testing.T) string {
	server := sdk.NewServer(&sdk.Implementation{Name: s.name, Title: s.title, Version: "1"}, nil)
	for _, tool := range s.tools {
		server.AddTool(tool, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
		})
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}

// five are small tools for one kind of thing.
func five(things string) listedServer {
	server := listedServer{name: things, title: "The " + things + " of the team"}
	for _, verb := range []string{"list", "read", "create", "change", "remove"} {
		schema := json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}}}`)
		server.tools = append(server.tools, &sdk.Tool{Name: verb, Description: fmt.Sprintf("To %s one or more %s.", verb, things), InputSchema: schema})
	}
	return server
}

// published are n tools as a server that many use lists them (see the file), some again
// with a number before the name, for it has fewer.
func published(t *testing.T, n int) (list []*sdk.Tool) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "firstrequest", "github-mcp-server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		tool, name := file.Tools[i%len(file.Tools)], ""
		if round := i / len(file.Tools); round > 0 {
			name = fmt.Sprintf("v%d_", round+1)
		}
		list = append(list, &sdk.Tool{Name: name + tool.Name, Description: tool.Description, InputSchema: tool.InputSchema})
	}
	return list
}

// chatRequest is a request for the next step, in the API that all servers have.
type chatRequest struct {
	Messages []struct {
		Role    string
		Content any
	}
	Tools []json.RawMessage
}

func chatOf(t *testing.T, requests []modeltest.Request) (chat chatRequest) {
	for _, request := range requests {
		if strings.HasSuffix(request.Path, "/chat/completions") {
			if err := json.Unmarshal(request.Body, &chat); err != nil {
				t.Fatal(err)
			}
			return chat
		}
	}
	t.Fatal("the model was asked nothing")
	return chat
}

// differing are the parts of a request that differ from one machine to another.
var differing = []struct{ from, to string }{
	{`(?m)^(- (?:System|Commands run under|Date): ).*$`, "$1…"},
	{`(?s)(\nSandbox\n)- .*$`, "$1- …"},
	{`(Scratch directory for temporary files, writable without asking: )\S+`, "$1…"},
}

// printed is a request as the golden files have it.
func printed(t *testing.T, chat chatRequest, cwd string) string {
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real
	}
	plain := func(text string) string {
		text = strings.ReplaceAll(text, cwd, "/project")
		for _, d := range differing {
			text = regexp.MustCompile(d.from).ReplaceAllString(text, d.to)
		}
		return text
	}
	var b strings.Builder
	system := plain(fmt.Sprint(chat.Messages[0].Content))
	fmt.Fprintf(&b, "== system text: %d bytes\n%s\n\n", len(system), system)
	sum, rows := 0, ""
	for _, raw := range chat.Tools {
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			t.Fatal(err)
		}
		var tool struct {
			Function struct{ Name, Description string }
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		sum += compact.Len()
		rows += fmt.Sprintf("%6d %s\n", compact.Len(), tool.Function.Name)
		if tool.Function.Name == "tool_search" {
			rows += "       | " + strings.ReplaceAll(tool.Function.Description, "\n", "\n       | ") + "\n"
		}
	}
	fmt.Fprintf(&b, "== %d tools: %d bytes\n%s\n", len(chat.Tools), sum, rows)
	for _, message := range chat.Messages[1:] {
		fmt.Fprintf(&b, "== message of %s\n%s\n", message.Role, plain(fmt.Sprint(message.Content)))
	}
	return b.String()
}
