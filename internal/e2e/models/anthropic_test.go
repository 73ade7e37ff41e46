package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/anthropictest"
)

// A task of 30 calls with thinking, through the whole program: a server that refuses what
// the API refuses finds nothing to refuse, and what it was asked for is cached.
func TestAnthropic_Task(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ model, level string }{{"claude-sonnet-4-5", "high"}, {"claude-opus-5-5", ""}} {
		t.Run(tt.model, func(t *testing.T) {
			t.Parallel()
			server := anthropictest.New(t, append(anthropictest.Task(), anthropictest.Step{Text: "And on."})...)
			agent := acptest.Start(t, acptest.Options{Env: agenttest.AnthropicEnv(t, server.URL, tt.model, tt.level)})
			agent.Initialize("")
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "there.txt"), []byte("here\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			session := agent.NewSession(dir)
			session.Prompt("read it all").Ends("end_turn")
			session.Prompt("go on").Ends("end_turn")
			if text := session.Text(); !strings.Contains(text, "All read.") || !strings.Contains(text, "And on.") {
				t.Errorf("the agent said %q", text)
			}
			for _, problem := range server.Broken() {
				t.Errorf("refused: %s", problem)
			}
			anthropicRequests(t, server)
		})
	}
}

// anthropicRequests checks the requests of the task's turns, which are those with tools.
func anthropicRequests(t *testing.T, server *anthropictest.Server) {
	t.Helper()
	var bodies []string
	for _, x := range server.Exchanges() {
		if strings.Contains(string(x.Body), `"tools":[`) {
			bodies = append(bodies, string(x.Body))
		}
		if key := x.Header.Get("X-Api-Key"); key != "sk-ant-of-the-test-0123456789" || x.Header.Get("Authorization") != "" {
			t.Errorf("the key sent is %q", key)
		}
	}
	if len(bodies) != 22 {
		t.Fatalf("%d requests with tools", len(bodies))
	}
	last := bodies[21]
	for what, want := range map[string]int{`"type":"tool_use"`: 30, `"type":"tool_result"`: 30, `"type":"redacted_thinking"`: 10, `"type":"thinking"`: 21, `"is_error":true`: 15, `"cache_control"`: 4} {
		if n := strings.Count(last, what); n != want {
			t.Errorf("the last request has %d of %s, want %d", n, what, want)
		}
	}
	prefix := func(body string) string { // what the server caches: tools, system text and messages
		body = strings.ReplaceAll(body, `,"cache_control":{"type":"ephemeral"}`, "")
		return body[strings.Index(body, `"tools":[`):]
	}
	for i := 1; i < len(bodies); i++ {
		if !strings.HasPrefix(prefix(bodies[i]), strings.TrimSuffix(prefix(bodies[i-1]), "]}]}")) {
			t.Errorf("request %d does not begin with the one before it", i)
		}
	}
}
