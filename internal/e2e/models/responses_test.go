package models

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/responsestest"
)

// A task of 30 calls with thinking, through the whole program: a server that refuses what
// the API refuses finds nothing to refuse. The second way, the API is not configured, and the
// server says which it wants.
func TestResponses_Task(t *testing.T) {
	t.Parallel()
	for _, api := range []string{"responses", "chat"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			server := responsestest.New(t, append(responsestest.Task(), responsestest.Step{Text: "And on."})...)
			server.ResponsesOnly = "This model is only supported in v1/responses and not in v1/chat/completions."
			agent := acptest.Start(t, acptest.Options{Env: agenttest.ResponsesEnv(t, server.URL, api, "high")})
			agent.Initialize("")
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "there.txt"), []byte("here\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			session := agent.NewSession(dir)
			session.Prompt("read it all").Ends("end_turn")
			session.Prompt("go on").Ends("end_turn")
			if text := session.Text(); !strings.Contains(text, "So.\n\nAll read.") || !strings.Contains(text, "And on.") || strings.Contains(text, "v1/responses") {
				t.Errorf("the agent said %q", text)
			}
			for _, problem := range server.Broken() {
				t.Errorf("refused: %s", problem)
			}
			responsesRequests(t, server)
		})
	}
}

// responsesRequests checks the requests of the task's turns, which are those with tools.
func responsesRequests(t *testing.T, server *responsestest.Server) {
	t.Helper()
	var bodies []string
	for _, x := range server.Exchanges() {
		if x.Path == "/v1/responses" && strings.Contains(string(x.Body), `"tools":[`) {
			bodies = append(bodies, string(x.Body))
		}
	}
	if len(bodies) != 22 {
		t.Fatalf("%d requests with tools", len(bodies))
	}
	last := bodies[21]
	for what, want := range map[string]int{
		`"type":"function_call",`: 30, `"type":"function_call_output"`: 30, `"encrypted_content":"`: 26, `"phase":"commentary"`: 11, `"phase":"final_answer"`: 1,
		`"prompt_cache_key":"`: 1, `"effort":"high"`: 1,
	} {
		if n := strings.Count(last, what); n != want {
			t.Errorf("the last request has %d of %s, want %d", n, what, want)
		}
	}
	for i := 1; i < len(bodies); i++ {
		if !strings.HasPrefix(bodies[i], strings.TrimSuffix(bodies[i-1], "]}")) {
			t.Errorf("request %d does not begin with the one before it", i)
		}
	}
}

// Which API a model of a preset is asked in: by its family, by the configuration, and by what
// the server has.
func TestResponses_Choice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, provider, model string
		server                func(*responsestest.Server)
		want                  string // paths
	}{
		{"a family", `{}`, "gpt-5-codex", nil, "responses"},
		{"another family", `{}`, "gpt-4.1", func(s *responsestest.Server) { s.NoResponses = true }, "chat/completions"},
		{"the user's word", `{"api": "chat"}`, "gpt-5", func(s *responsestest.Server) { s.NoResponses = true }, "chat/completions"},
		{"the user's word for the other", `{"api": "responses"}`, "gpt-4.1", func(s *responsestest.Server) { s.Plain = true }, "responses"},
		{"the server's word", `{"api": "chat"}`, "gpt-5-pro", func(s *responsestest.Server) { s.ResponsesOnly = "This model is only supported in v1/responses" }, "chat/completions responses"},
		{"a proxy without it", `{}`, "gpt-5", func(s *responsestest.Server) { s.NoResponses = true }, "responses chat/completions"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := responsestest.New(t, responsestest.Step{Text: "Well."})
			if tt.server != nil {
				tt.server(server)
			}
			var provider map[string]any
			if err := json.Unmarshal([]byte(tt.provider), &provider); err != nil {
				t.Fatal(err)
			}
			provider["preset"], provider["base_url"], provider["api_key"] = "openai", server.URL, "k"
			provider["models"] = []string{tt.model}
			text, err := json.Marshal(map[string]any{"providers": map[string]any{"work": provider}})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "config.jsonc")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			agent := acptest.Start(t, acptest.Options{Env: []string{"ACP_AGENT_CONFIG=" + path}})
			agent.Initialize("")
			session := agent.NewSession(t.TempDir())
			session.Prompt("go").Ends("end_turn")
			if session.Text() != "Well." {
				t.Errorf("the agent said %q", session.Text())
			}
			var paths []string
			for _, x := range server.Exchanges() {
				paths = append(paths, strings.TrimPrefix(x.Path, "/v1/"))
			}
			if got := strings.Join(paths, " "); got != tt.want {
				t.Errorf("asked %s, want %s", got, tt.want)
			}
		})
	}
}
