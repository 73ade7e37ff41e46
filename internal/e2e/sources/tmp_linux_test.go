package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// tmpServer is an MCP server that loads a library from elsewhere in its AppImage, and gives
// up where it sees what it should not.
const tmpServer = `#!/bin/sh
here=$(dirname "$0")
. "$here/../lib/words.sh"
[ -n "$HIDDEN" ] && [ -e "$here/../../../$HIDDEN" ] && { echo "all of /tmp is visible" >&2; exit 1; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"%s","version":"1"}}}\n' "$id" "$word" ;;
  esac
done
`

// M2: a server of the editor that lies in /tmp, as all of an AppImage does, starts in the
// sandbox with what belongs to it, however the editor names it; the rest of /tmp stays
// hidden under bubblewrap.
func TestSandbox_ServersInTmp(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", ".mount_acp")
	if err != nil {
		t.Fatal(err)
	}
	neighbour := filepath.Join("/tmp", "acp-neighbour"+filepath.Base(dir))
	t.Cleanup(func() { os.RemoveAll(dir); os.Remove(neighbour) })
	server := filepath.Join(dir, "usr", "bin", "server")
	for path, text := range map[string]string{
		server: tmpServer, filepath.Join(dir, "usr", "lib", "words.sh"): "word=loaded\n", neighbour: "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, level := range []string{"bubblewrap", "landlock"} {
		for _, tt := range []struct {
			name    string
			command string
			args    []any
		}{
			{"its program", server, []any{}},
			{"an argument", "/bin/sh", []any{server}},
			{"within an argument", "/bin/sh", []any{"-c", "exec " + server + " --flag"}},
		} {
			t.Run(level+" "+tt.name, func(t *testing.T) {
				config := filepath.Join(t.TempDir(), "config.jsonc")
				if err := os.WriteFile(config, fmt.Appendf(nil, `{"sandbox": {"level": %q}}`, level), 0o600); err != nil {
					t.Fatal(err)
				}
				agent := acptest.Start(t, acptest.Options{Model: `{"say":"Hello.","repeat":-1}`, Env: []string{"ACP_AGENT_CONFIG=" + config}})
				agent.Initialize("")
				env := []any{}
				if level == "bubblewrap" {
					env = append(env, map[string]any{"name": "HIDDEN", "value": filepath.Base(neighbour)})
				}
				session := agent.OpenSession(map[string]any{"cwd": t.TempDir(), "mcpServers": []any{
					map[string]any{"name": "t", "command": tt.command, "args": tt.args, "env": env},
				}})
				session.Prompt("hello").Ends("end_turn")
				session.Prompt("/mcp").Ends("end_turn")
				text := session.Text()
				if strings.Contains(text, "cannot be confined") {
					testreq.Skip(t, text)
				}
				if !strings.Contains(text, "`t`: ready") {
					t.Errorf("the server did not start: %s", text)
				}
			})
		}
	}
}
