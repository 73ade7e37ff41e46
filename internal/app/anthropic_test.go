package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/anthropictest"
)

// anthropicSteps are a task of 30 calls in 20 steps, with thinking before each, half of them of
// files that are not there, and an answer.
func anthropicSteps() []anthropictest.Step {
	var steps []anthropictest.Step
	for i := range 20 {
		step := anthropictest.Step{
			Thinking: fmt.Sprintf("Step %d: \"look\" — ä 😀.", i), Silent: i%7 == 6,
			Calls: []anthropictest.Call{{Name: "read", Input: `{"path":"there.txt"}`}},
		}
		switch {
		case i%2 == 1:
			step.Redacted, step.Text = "hidden", "Two at once."
			step.Calls = append(step.Calls, anthropictest.Call{Name: "read", Input: `{"path":"absent.txt"}`})
		case i%4 == 2:
			step.Calls[0].Input = `{"path":"missing.txt"}`
		}
		steps = append(steps, step)
	}
	return append(steps, anthropictest.Step{Thinking: "That was all.", Text: "All read."})
}

// anthropicConfig is a file that chooses the API; the key comes from the environment.
func anthropicConfig(t *testing.T, url, name, level string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.jsonc")
	text, err := json.Marshal(map[string]any{"model": map[string]any{"api": "anthropic", "name": name, "base_url": url, "thought_level": level}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"ACP_AGENT_CONFIG=" + path, "ANTHROPIC_API_KEY=sk-ant-of-the-test-0123456789", "OPENAI_API_KEY=wrong", "OPENAI_MODEL=wrong", "OPENAI_BASE_URL=http://127.0.0.1:9/v1"}
}

// A task of 30 calls with thinking, through the whole program: a server that refuses what
// the API refuses finds nothing to refuse, and what it was asked for is cached.
func TestAnthropic_Task(t *testing.T) {
	for _, tt := range []struct{ model, level string }{{"claude-sonnet-4-5", "high"}, {"claude-opus-5-5", ""}} {
		t.Run(tt.model, func(t *testing.T) {
			t.Parallel()
			server := anthropictest.New(t, append(anthropicSteps(), anthropictest.Step{Text: "And on."})...)
			agent := acptest.Start(t, acptest.Options{Env: anthropicConfig(t, server.URL, tt.model, tt.level)})
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
