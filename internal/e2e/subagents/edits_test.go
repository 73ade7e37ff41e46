package subagents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// The crowd of subagents that edit the same files.
const (
	crowd        = 20 // subagents
	crowdRunning = 8  // of them at once
	crowdFiles   = 5
)

// crowdRounds is how many edits of each file each subagent makes.
func crowdRounds() int { return testreq.Rounds(3, 10) }

// crowdAgent may do nothing but edit, and as often as it takes.
const crowdAgent = `---
name: editor
description: Edits.
mode: subagent
tools: [edit]
permissions: inherit
limits: {cycles: 100}
---
You edit.
`

// crowdModel has the main agent start all subagents in one step, and each of them edit all
// files in each of its steps: its own line of each, which counts up.
func crowdModel() string {
	var b strings.Builder
	var calls []string
	for n := range crowd {
		calls = append(calls, fmt.Sprintf(`{"name": "task", "args": {"subagent_type": "editor", "prompt": "editor %02d"}}`, n))
	}
	fmt.Fprintf(&b, `{"when": "^go$", "call": [%s]}`+"\n"+`{"say": "Done."}`+"\n", strings.Join(calls, ", "))
	for round := range crowdRounds() {
		calls = nil
		for file := range crowdFiles {
			calls = append(calls, fmt.Sprintf(`{"name": "edit", "args": {"path": "%d.txt", "old_str": "editor ${match.1}: %d\n", "new_str": "editor ${match.1}: %d\n"}}`, file, round, round+1))
		}
		when := ""
		if round == 0 {
			when = `"when": "^editor (\\d\\d)$", `
		}
		fmt.Fprintf(&b, `{%s"call": [%s]}`+"\n", when, strings.Join(calls, ", "))
	}
	b.WriteString(`{"say": "Edited."}` + "\n")
	return b.String()
}

// crowdText is a file in which each editor has made so many edits.
func crowdText(edits int) string {
	var b strings.Builder
	for n := range crowd {
		fmt.Fprintf(&b, "editor %02d: %d\n", n, edits)
	}
	return b.String()
}

// TestSubagent_NoEditIsLost is R40, R41 and R102: twenty subagents edit the same files side
// by side, eight at once, through the whole program, and each edit of each is in the files
// in the end.
func TestSubagent_NoEditIsLost(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(home, "project")
	files := map[string]string{
		".agents/agents/editor.md": crowdAgent,
		"config.jsonc":             fmt.Sprintf(`{"mode": "code", "limits": {"concurrent": %d}, "subagents": {"running": %d}}`, crowd, crowdRunning),
	}
	for file := range crowdFiles {
		files[fmt.Sprintf("project/%d.txt", file)] = crowdText(0)
	}
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	agent := acptest.Start(t, acptest.Options{
		Home: home, Model: crowdModel(), Env: []string{"ACP_AGENT_CONFIG=" + filepath.Join(home, "config.jsonc")}, Unjudged: true,
	})
	agent.Initialize("")
	session := agent.NewSession(project)
	turn := session.Prompt("go")
	turn.WaitFor(5 * time.Minute)
	turn.Ends("end_turn")
	for file := range crowdFiles {
		got, err := os.ReadFile(filepath.Join(project, fmt.Sprintf("%d.txt", file)))
		if err != nil || string(got) != crowdText(crowdRounds()) {
			t.Errorf("%d.txt holds, %v:\n%s", file, err, got)
		}
	}
	if most := mostAtOnce(session); most < 2 || most > crowdRunning {
		t.Errorf("%d subagents edited at once, want several and at most %d", most, crowdRunning)
	}
	t.Logf("peak memory %.0f MB", float64(agent.Peak())/1e6)
}

// mostAtOnce is how many subagents had tool calls open at once, at most.
func mostAtOnce(session *acptest.Session) int {
	open, most := map[string]int{}, 0
	for _, l := range session.Lines() {
		if !l.FromAgent || l.Message == nil {
			continue
		}
		kind, update := l.Message.Update()
		meta, _ := update["_meta"].(map[string]any)
		link, _ := meta["claudeCode"].(map[string]any)
		parent, _ := link["parentToolUseId"].(string)
		if parent == "" {
			continue
		}
		if kind == "tool_call" {
			open[parent]++
		} else if update["status"] == "completed" || update["status"] == "failed" {
			if open[parent]--; open[parent] == 0 {
				delete(open, parent)
			}
		}
		most = max(most, len(open))
	}
	return most
}
