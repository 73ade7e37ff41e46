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
	"acp-agent/internal/testkit/testfile"
)

// TestMCP_ServersDoNotDelayTheSession opens a session with ten servers, five of the editor and
// five of the configuration: one ends at once, one never says a word, and the others wait
// for a file that is written when session/new has been answered and a turn has ended. So
// neither waits for a server (R88, R90). Then the eight are there.
func TestMCP_ServersDoNotDelayTheSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held := filepath.Join(dir, "server.sh")
	config := filepath.Join(t.TempDir(), "config.jsonc")
	begin := `begin() { while [ ! -e go ]; do sleep 0.02; done; }`
	if err := os.WriteFile(held, []byte(fmt.Sprintf(faultyServer, begin)), 0o644); err != nil {
		t.Fatal(err)
	}
	const servers, dead = 10, 2
	configured, offered := map[string]any{}, []any{}
	for n := range servers {
		args := []string{held}
		switch n {
		case 0:
			args = []string{"-c", "exit 1"}
		case servers / 2:
			args = []string{"-c", "exec sleep 600"}
		}
		if name := fmt.Sprint("server", n); n < servers/2 {
			configured[name] = map[string]any{"command": append([]string{"bash"}, args...)}
		} else {
			offered = append(offered, map[string]any{"name": name, "command": "bash", "args": args, "env": []any{}})
		}
	}
	testfile.JSON(t, config, map[string]any{"mcp": map[string]any{"servers": configured}})
	agent := acptest.Start(t, acptest.Options{Model: `{"say": "Here.", "repeat": -1}`, Env: append(quick, "ACP_AGENT_CONFIG="+config)})
	agent.Initialize("")
	session := agent.OpenSession(map[string]any{"cwd": dir, "mcpServers": offered})
	tells(t, session, "hello", "Here.")
	if ready := strings.Count(say(session, "/mcp"), ": ready"); ready != 0 {
		t.Errorf("%d servers are ready that have not been let go", ready)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for let := time.Now(); ; time.Sleep(20 * time.Millisecond) { // the user asks again
		text := say(session, "/mcp")
		if ready := strings.Count(text, ": ready, 1 tool"); ready == servers-dead {
			return
		}
		if took := time.Since(let); took > acptest.Slack(10*time.Second) {
			t.Fatalf("%v after the servers were let go:\n%s", took, text)
		}
	}
}
