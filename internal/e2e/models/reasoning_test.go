package models

import (
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
)

// Through the whole agent a server has its reasoning back, in the turn and in the next, and
// what is of no use to the user is not shown.
func TestReasoning_GoesBack(t *testing.T) {
	t.Parallel()
	for _, rule := range modeltest.Rules() {
		switch rule.Name {
		case "kimi-k2.6", "claude", "gemini", "minimax-m2":
		default:
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.NewStrict(t, rule, 3)
			agent := acptest.Start(t, acptest.Options{Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=" + rule.Model, "OPENAI_API_KEY=sk-reasoning"}})
			agent.Initialize("")
			session := agent.NewSession(t.TempDir())
			session.Prompt("do it").Ends("end_turn")
			session.Prompt("and on").Ends("end_turn")
			if got := server.Refused(); len(got) > rule.Learned {
				t.Errorf("the server refused %q", got)
			}
			text := session.Text()
			if !strings.Contains(text, "["+rule.Name+"#") || strings.Contains(text, "think>") || strings.Contains(text, "Step") {
				t.Errorf("the agent said %q", text)
			}
		})
	}
}
