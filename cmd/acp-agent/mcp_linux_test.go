package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"acp-agent/internal/acptest"
)

// stubbornServer is an MCP server that never answers, ignores what asks it to end, and
// leaves a process in a session of its own that does so too.
const stubbornServer = `trap "" TERM HUP INT
(setsid sh -c 'trap "" TERM; sleep $0' $1 &)
while :; do sleep 0.05; done
`

// TestMCP_Processes is R149 and the end of servers: one that never answers keeps neither
// session/new nor the first prompt, and nothing of it is left after session/close, nor
// after the agent was killed.
func TestMCP_Processes(t *testing.T) {
	for i, level := range []string{"auto", "none"} {
		for j, tt := range []struct {
			name string
			end  func(t *testing.T, s *acptest.Session)
		}{
			{"session/close", func(_ *testing.T, s *acptest.Session) { s.CloseSession() }},
			{"kill -9", func(t *testing.T, s *acptest.Session) {
				if err := s.Signal(os.Kill); err != nil {
					t.Fatal(err)
				}
				_ = s.Exit(10 * time.Second) // it was killed
			}},
		} {
			t.Run(level+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				nap := fmt.Sprintf("5%d%d%d", os.Getpid(), i, j)
				dir, err := filepath.EvalSymlinks(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				script, config := filepath.Join(dir, "server.sh"), filepath.Join(dir, "config.jsonc")
				for name, text := range map[string]string{script: stubbornServer, config: fmt.Sprintf(`{"sandbox": {"level": %q}}`, level)} {
					if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				agent := acptest.Start(t, acptest.Options{
					Model: `{"say": "Here."}`, Env: []string{"ACP_AGENT_CONFIG=" + config}, Killed: tt.name == "kill -9",
				})
				agent.Initialize("")
				server := map[string]any{"name": "stuck", "command": "/bin/bash", "args": []string{script, nap}, "env": []any{}}
				session := agent.OpenSession(map[string]any{"cwd": dir, "mcpServers": []any{server}})
				session.Prompt("hello").Ends("end_turn")
				awaitNap(t, session, nap)
				ended := time.Now()
				tt.end(t, session)
				for napping(t, nap) > 0 {
					if took := time.Since(ended); took > acptest.Slack(3*time.Second) {
						t.Fatalf("the server's process is there %v after the end", took)
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
	}
}
