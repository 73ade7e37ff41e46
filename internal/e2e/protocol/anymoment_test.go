package protocol

import (
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// TestDuring_AnyMoment sends commands that are answered during a turn while turns begin,
// run and end: each prompt has its own answer, after what belongs to it, and no turn
// loses a word. That nothing comes outside a turn, the judge of every run says.
func TestDuring_AnyMoment(t *testing.T) {
	t.Parallel()
	rounds := testreq.Rounds(9, 60)
	const words = "one two three four five six seven eight."
	agent := acptest.Start(t, acptest.Options{Model: `{"when": "^go", "say": "` + words + `", "chunk": 2, "pause_ms": 1, "repeat": -1}`})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	for round := range rounds {
		prompts := []*acptest.Turn{session.Prompt("go on")}
		if round%3 == 0 { // somewhere in the turn
			agent.Expect("text", acptest.Update("agent_message_chunk", "content.text", "one"[:round%2+1]))
		}
		for _, command := range []string{"/tasks", "go again", "/status", "/tasks stop all"} {
			prompts = append(prompts, session.Prompt(command))
		}
		for _, prompt := range prompts {
			prompt.Ends("end_turn")
		}
		agent.Skip()
	}
	said := map[string]int{}
	for _, text := range messages(agent) {
		first, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
		if whole := strings.ReplaceAll(text, "\n\n", ""); whole == words { // another message came between its pieces
			first = whole
		}
		said[first]++
	}
	for text, want := range map[string]int{
		"No subagents were started in this session.": rounds, "- Model: `script`": rounds, "No subagent is running.": rounds, words: 2 * rounds,
	} {
		if got := said[text]; got != want {
			t.Errorf("%q was said %d times, want %d", text, got, want)
		}
	}
}

// messages are the texts of what the agent said, by the ids of the messages.
func messages(agent *acptest.Agent) map[any]string {
	texts := map[any]string{}
	for _, l := range agent.Lines() {
		if !l.FromAgent || l.Message == nil {
			continue
		}
		if kind, update := l.Message.Update(); kind == "agent_message_chunk" {
			content, _ := update["content"].(map[string]any)
			text, _ := content["text"].(string)
			texts[update["messageId"]] += text
		}
	}
	return texts
}
