package protocol

import (
	"net/http"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
)

// lateModels is a server whose first answer never ends, and which lists its models once tell
// is called.
func lateModels(t *testing.T) (server *modeltest.Server, tell func()) {
	t.Helper()
	called := make(chan struct{})
	server = modeltest.New(t, modeltest.Step{Text: "I begin", Stall: 2}, modeltest.Step{Text: "Again."})
	server.Handle("/v1/models", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-called:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"small"},{"id":"large"}]}`))
	})
	return server, func() { close(called) }
}

// TestRobust_Quiet is R153 and R158: a list of models that comes soon after a cancel is told
// once the session has been quiet for a while, and once: acptest.Check sees to both.
func TestRobust_Quiet(t *testing.T) {
	t.Parallel()
	server, tell := lateModels(t)
	agent := acptest.Start(t, acptest.Options{Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=small"}})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	turn := session.Prompt("go")
	session.Expect("text", acptest.Update("agent_message_chunk"))
	session.Cancel()
	turn.Ends("cancelled")
	tell()
	agent.Expect("the list of models", acptest.Update("config_option_update", "configOptions", `"large"`))
	session.Prompt("next").Ends("end_turn")
}
