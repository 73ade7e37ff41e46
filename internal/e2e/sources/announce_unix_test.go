//go:build unix

package sources

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/testfile"
)

// comingServer is an MCP server that begins when there is a file "go", and ends with it
// when its tool die is called.
const comingServer = `while [ ! -e go ]; do sleep 0.02; done
while IFS= read -r line; do
  id=
  [[ $line =~ \"id\":([0-9]+) ]] && id=${BASH_REMATCH[1]}
  case $line in
  *'"method":"initialize"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}\n' "$id" ;;
  *'"method":"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"pluck","description":"Plucks.","inputSchema":{"type":"object","properties":{"string":{"type":"integer"}},"required":["string"]}},{"name":"die","description":"Ends.","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
  *'"name":"die"'*)
    rm go
    exit 3 ;;
  *'"method":"tools/call"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"plucked"}]}}\n' "$id" ;;
  esac
done
`

// TestMCP_ComesAndGoes has a server that is ready after the first request, ends, and comes
// again. The model is told each time, once, at the end of the conversation, and calls the
// tools by name; the tools of all requests are the same, byte for byte (R87, R91, R138).
func TestMCP_ComesAndGoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, release := filepath.Join(dir, "server.sh"), filepath.Join(dir, "go")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(script, comingServer)
	config := testfile.JSON(t, filepath.Join(t.TempDir(), "config.jsonc"), map[string]any{"rules": map[string]any{"allow": []string{"mcp__harp__*"}}})
	model := modeltest.New(t)
	agent := acptest.Start(t, acptest.Options{Env: append(quick, "ACP_AGENT_CONFIG="+config, "OPENAI_BASE_URL="+model.URL, "OPENAI_MODEL=fake")})
	agent.Initialize("")
	session := agent.OpenSession(map[string]any{"cwd": dir, "mcpServers": []any{
		map[string]any{"name": "harp", "command": "bash", "args": []string{script}, "env": []any{}},
	}})
	untilReady := func(ready bool) {
		for began := time.Now(); strings.Contains(say(session, "/mcp"), "`harp`: ready") != ready; time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > acptest.Slack(30*time.Second) {
				t.Fatalf("the server is not as it should be: %s", say(session, "/mcp"))
			}
		}
	}
	calls := func(tool, args string) modeltest.Step {
		return modeltest.Step{Calls: []modeltest.Call{{ID: "c" + tool + args[2:4], Name: tool, Arguments: args}}}
	}
	turn := func(prompt string, steps ...modeltest.Step) {
		model.Add(append(steps, modeltest.Step{Text: "Done " + prompt})...)
		tells(t, session, prompt, "Done "+prompt)
	}

	turn("first")
	write(release, "")
	untilReady(true)
	turn("second", calls("mcp__harp__pluck", `{"strings":1}`), calls("mcp__harp__pluck", `{"string":1}`))
	turn("third", calls("mcp__harp__die", `{ "a":1}`))
	untilReady(false)
	turn("fourth")
	write(release, "")
	untilReady(true)
	turn("fifth", calls("mcp__harp__pluck", `{"string":2}`))

	var list string
	var bodies []chatRequest
	for _, request := range model.Requests() {
		if !strings.HasSuffix(request.Path, "/chat/completions") || strings.Contains(string(request.Body), `"tool_choice":"none"`) {
			continue
		}
		var body struct {
			chatRequest
			Tools json.RawMessage
		}
		if err := json.Unmarshal(request.Body, &body); err != nil {
			t.Fatal(err)
		}
		if len(body.Tools) == 0 {
			continue // what names the session
		}
		if list == "" {
			list = string(body.Tools)
		} else if list != string(body.Tools) {
			t.Errorf("the list of tools has become %s", body.Tools)
		}
		bodies = append(bodies, body.chatRequest)
	}
	if strings.Contains(list, "mcp__harp") || !strings.Contains(list, `"tool_search"`) {
		t.Errorf("the list of tools is %s", list)
	}
	var texts []string
	for _, message := range bodies[len(bodies)-1].Messages {
		texts = append(texts, message.Role+": "+fmt.Sprint(message.Content))
	}
	for _, want := range [][2]string{
		{"user: second", "- mcp__harp__pluck: Plucks. Arguments, as a JSON Schema: {"},
		{"tool: ", `the arguments of mcp__harp__pluck, as a JSON Schema: {"type":"object"`},
		{"user: ", "The MCP server harp cannot be reached now"},
		{"user: fifth", "The MCP server harp can be reached again."},
	} {
		n := 0
		for _, text := range texts {
			if strings.Contains(text, want[1]) {
				n++
				if !strings.HasPrefix(text, want[0]) {
					t.Errorf("%q stands in %q", want[1], text)
				}
			}
		}
		if n != 1 {
			t.Errorf("%d messages say %q:\n%s", n, want[1], strings.Join(texts, "\n"))
		}
	}
	plucked := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text != "tool: plucked" })
	if len(plucked) != 2 {
		t.Errorf("%d calls were answered, want 2:\n%s", len(plucked), strings.Join(texts, "\n"))
	}
}
