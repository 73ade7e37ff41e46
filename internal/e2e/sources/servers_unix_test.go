//go:build unix

package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// faultyServer is an MCP server with one tool. What stands before its loop may change
// what it does at its start, what it lists, and what it does when it is called.
const faultyServer = `answer() { printf '{"jsonrpc":"2.0","id":%%s,"result":%%s}\n' "$id" "$1"; }
tool() { printf '{"name":"%%s","description":"%%s","inputSchema":{"type":"object"}}' "$1" "${2:-Tells the fortune.}"; }
done='{"content":[{"type":"text","text":"all is well"}]}'
tools=$(tool x)
begin() { :; }
called() { answer "$done"; }
%s
begin
while IFS= read -r line; do
  id=
  [[ $line =~ \"id\":([0-9]+) ]] && id=${BASH_REMATCH[1]}
  case $line in
  *'"method":"initialize"'*)
    answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"t","version":"1"}}' ;;
  *'"method":"tools/list"'*) answer "{\"tools\":[$tools]}" ;;
  *'"method":"tools/call"'*) called ;;
  esac
done
`

// endless writes a gigabyte.
const endless = `head -c 1073741824 /dev/zero | tr '\0' x`

// mostMemory bounds the agent's resident memory, in bytes, whatever a server sends: a
// message of 16 MiB is read before it is refused.
const mostMemory = 120 << 20

// TestMCP_FaultyServers is a table of what a server may do wrong, over the wire and with
// real processes (R91, M2): the session goes on, people are told what happened, and a
// server that gets well is there again within 10 s.
func TestMCP_FaultyServers(t *testing.T) {
	for _, tt := range testreq.Pick(5, []struct {
		name   string
		server string   // what it does otherwise
		tool   string   // that is called; empty means mcp__bad__x
		args   string   // of the call
		told   []string // is said in the turn that calls
		status []string // is in /mcp
		well   bool     // it is there again, and answers
	}{
		{
			name: "crashes at start", server: `begin() { echo "error: no database" >&2; exit 1; }`,
			told:   []string{"The MCP server bad is not connected: it ended; stderr: error: no database. /mcp shows the state of all servers."},
			status: []string{"`bad`: failed, 0 tools", "error: no database"},
		},
		{
			name: "crashes once", server: `begin() { [ -e crashed ] && return; touch crashed; echo "error: not yet" >&2; exit 1; }`,
			told: []string{"The MCP server bad is not connected: it ended; stderr: error: not yet."}, well: true,
		},
		{
			name: "hangs in initialize", server: `begin() { exec sleep 600; }`,
			told:   []string{"The MCP server bad has not answered yet"},
			status: []string{"`bad`: connecting, 0 tools"},
		},
		{
			name: "writes garbage on its output", server: `begin() { echo Welcome; head -c 100000 /dev/urandom | tr -d '\n'; echo; echo '{"level":"info"}'; }`,
			told: []string{"Called: all is well"}, status: []string{"`bad`: ready, 1 tool", "ignored on its output: 3 lines"},
		},
		{
			name: "a gigabyte instead of a greeting", server: `begin() { [ -e crashed ] && return; touch crashed; printf '{"jsonrpc":"2.0","id":1,"result":{"x":"'; ` + endless + `; }`,
			told: []string{"The MCP server bad is not connected: it sent a message of more than 16 MiB"}, well: true,
		},
		{
			name:   "a gigabyte as the answer of a call",
			server: `called() { [ -e crashed ] && answer "$done" && return; touch crashed; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"; ` + endless + `; }`,
			told:   []string{"mcp server bad is unavailable", "it sent a message of more than 16 MiB"}, well: true,
		},
		{
			name: "ends while a call runs", server: `called() { [ -e crashed ] && answer "$done" && return; touch crashed; echo "fatal error: out of memory" >&2; exit 137; }`,
			told: []string{"mcp server bad is unavailable", "out of memory"}, well: true,
		},
		{
			name:   "names one tool twice",
			server: `tools="$(tool x),$(tool x),$(tool 'x/y é'),$(tool "$(printf 'x%.0s' {1..300})")"`,
			told:   []string{"Called: all is well"},
			status: []string{"`bad`: ready, 3 tools", "the server lists this name twice", "`mcp__bad__x_y_"},
		},
		{
			name: "names a tool as one of ours", server: `tools="$(tool read),$(tool bash)"`,
			tool: "mcp__bad__read", told: []string{"Called: all is well"}, status: []string{"`mcp__bad__bash`, `mcp__bad__read`"},
		},
		{
			name: "does not get what is asked of ours", server: `tools="$(tool read),$(tool bash)"`,
			tool: "read", args: `"path": "a.txt"`, told: []string{"Called: 1: words of the project"},
		},
		{
			name:   "describes its tool at length",
			server: `tools=$(tool x "fortune $(printf '\\u001b[31m\\u202e%.0s' {1..8000}) $(printf 'x%.0s' {1..50000})")`,
			told:   []string{"Called: all is well"}, status: []string{"`bad`: ready, 1 tool"},
		},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.tool == "" {
				tt.tool = "mcp__bad__x"
			}
			dir := t.TempDir()
			server := filepath.Join(dir, "server.sh")
			for path, text := range map[string]string{server: fmt.Sprintf(faultyServer, tt.server), filepath.Join(dir, "a.txt"): "words of the project\n"} {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			agent := acptest.Start(t, acptest.Options{Model: fmt.Sprintf(faultyScript, tt.tool, tt.args), Permission: acptest.Answer("allow_once"), Env: waitsFor(tt.told)})
			agent.Initialize("")
			session := agent.OpenSession(map[string]any{"cwd": dir, "mcpServers": []any{
				map[string]any{"name": "bad", "command": "/bin/bash", "args": []string{server}, "env": []any{}},
			}})
			began := time.Now()
			tellsFault(t, session, tt.told...)
			tells(t, session, "read", "Read.")
			tells(t, session, "/mcp", tt.status...)
			if tt.well {
				awaitWell(t, session, began)
			}
			if peak := agent.Peak(); peak > mostMemory*int64(acptest.Slack(1)) { // the race detector takes thrice as much, too
				t.Errorf("the agent took %d MiB of memory", peak>>20)
			}
			for _, l := range agent.Lines() {
				if l.FromAgent && (strings.Contains(l.Raw, `\u001b`) || strings.ContainsRune(l.Raw, '\u202e') || len(l.Raw) > 64<<10) {
					t.Errorf("a line of %d bytes holds what the server had hidden in it, or all that it said: %.200q", len(l.Raw), l.Raw)
				}
			}
		})
	}
}
