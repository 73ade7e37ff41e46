package subagents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
)

// TestSubagent_AsksBetweenTurns is R68 and R73 in an editor that drops what comes between
// turns: a subagent in the background that asks then, and one that ends then, are heard of in
// the turn of the next prompt, before anything else of it. The check of every run sees to it
// that nothing is sent between turns.
func TestSubagent_AsksBetweenTurns(t *testing.T) {
	for _, editor := range []string{"CodeCompanion.nvim", "agent-shell"} {
		t.Run(editor, func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			touch := func(name string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(project, name), []byte("text\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			touch("a.txt")
			agent := acptest.Start(t, acptest.Options{Model: `
{"when": "^begin$", "call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "work", "background": true}}]}
{"say": "It goes on."}
{"when": "^go on$", "until": "${cwd}/answered", "say": "All of it."}
{"when": "^and\\?$", "expect": {"told": "Its last message"}, "say": "It has told me."}
{"when": "^work$", "until": "${cwd}/turn-over", "call": [{"name": "read", "args": {"path": "a.txt"}}, {"name": "write", "args": {"path": "late.txt", "content": "late"}}]}
{"until": "${cwd}/second", "say": "I am through."}
`})
			agent.Request("initialize", `{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"`+editor+`","version":"1"}}`).Result()
			session := agent.NewSession(project)
			session.Prompt("begin").Ends("end_turn")
			touch("turn-over")
			for !strings.Contains(session.Text(), "waits for your answer") {
				session.Prompt("/tasks").Ends("end_turn")
			}
			turn := session.Prompt("go on")
			asked := agent.NextPermission()
			if title, _ := asked.Get("params.toolCall.title").(string); !strings.Contains(title, "late.txt") {
				t.Errorf("asked about %q", title)
			}
			if !strings.Contains(session.Text(), "`general` asks for permission: `Write late.txt`") {
				t.Errorf("the chat does not say who asks: %q", session.Text())
			}
			asked.Choose("allow_once")
			// A turn that ends before the agent has read the answer takes the question back.
			for _, err := os.Stat(filepath.Join(project, "late.txt")); err != nil; _, err = os.Stat(filepath.Join(project, "late.txt")) {
				time.Sleep(time.Millisecond)
			}
			touch("answered")
			turn.Ends("end_turn")
			touch("second")
			for !strings.Contains(session.Text(), "has finished") {
				session.Prompt("/tasks").Ends("end_turn")
			}
			session.Prompt("and?").Ends("end_turn")
			text := session.Text()
			const said = "`general` has finished: 2 tool calls, 1 file read, 1 file changed."
			if strings.Count(text, said) != 1 || strings.Contains(text, "Its last message") {
				t.Errorf("the end is told as %q", text)
			}
		})
	}
}
