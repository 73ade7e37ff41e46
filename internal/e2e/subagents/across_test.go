package subagents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// acrossEdits is how many edits each agent process makes.
const acrossEdits = 30

// acrossModel adds a line of the agent's own before the last one with each of its edits.
func acrossModel(agent int) string {
	var b strings.Builder
	for edit := range acrossEdits {
		fmt.Fprintf(&b, `{"call": [{"name": "edit", "args": {"path": "f.txt", "old_str": "end\n", "new_str": "%s\nend\n"}}]}`+"\n", acrossLine(agent, edit))
	}
	b.WriteString(`{"say": "Edited."}` + "\n")
	return b.String()
}

func acrossLine(agent, edit int) string { return fmt.Sprintf("agent %d, line %02d", agent, edit) }

// TestEdits_AcrossProcesses is R40 between processes: agents of one user, each with its own
// editor, edit one file at once. Every edit is made, and none that was made is lost.
func TestEdits_AcrossProcesses(t *testing.T) {
	t.Parallel()
	for _, tt := range testreq.Pick(2, []struct {
		name         string
		agents       int
		capabilities string
	}{
		{"two with an editor", 2, `{"fs": {"readTextFile": true, "writeTextFile": true}}`},
		{"three with an editor", 3, `{"fs": {"readTextFile": true, "writeTextFile": true}}`},
		{"three without", 3, ""},
		{"three, one of them with an editor", 3, "first"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			home, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			project := filepath.Join(home, "project")
			for name, text := range map[string]string{"project/f.txt": "end\n", "config.jsonc": `{"mode": "code"}`} {
				path := filepath.Join(home, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			agents := make([]*acptest.Agent, tt.agents)
			sessions := make([]*acptest.Session, tt.agents)
			for n := range agents {
				agents[n] = acptest.Start(t, acptest.Options{
					Home: home, Model: acrossModel(n), Files: &acptest.Files{}, Unjudged: true,
					Env: []string{"ACP_AGENT_CONFIG=" + filepath.Join(home, "config.jsonc")},
				})
				capabilities := tt.capabilities
				if capabilities == "first" {
					capabilities = map[bool]string{true: `{"fs": {"readTextFile": true, "writeTextFile": true}}`}[n == 0]
				}
				agents[n].Initialize(capabilities)
				sessions[n] = agents[n].NewSession(project)
			}
			var all sync.WaitGroup
			for _, session := range sessions {
				all.Go(func() { session.Prompt("go").Ends("end_turn") })
			}
			all.Wait()
			text, err := os.ReadFile(filepath.Join(project, "f.txt"))
			if err != nil {
				t.Fatal(err)
			}
			lost, undone := 0, 0
			for n, agent := range agents {
				done := completed(agent)
				undone += acrossEdits - len(done)
				for _, line := range done {
					if strings.Count(string(text), line+"\n") != 1 {
						lost++
					}
				}
				if len(done) == 0 {
					t.Errorf("agent %d made no edit", n)
				}
			}
			if lost > 0 || undone > 0 {
				t.Errorf("of %d edits %d were not made and %d that were made are lost", tt.agents*acrossEdits, undone, lost)
			}
			locks, err := os.ReadDir(filepath.Join(home, ".local", "state", "acp-agent", "locks"))
			if err == nil && len(locks) != 1 {
				t.Errorf("files of locks: %v", locks)
			}
			if left, err := os.ReadDir(project); err != nil || len(left) != 1 {
				t.Errorf("in the project: %v, %v", left, err)
			}
		})
	}
}

// completed are the lines of the edits that an agent reported as done.
func completed(agent *acptest.Agent) []string {
	lines := map[string]string{}
	var done []string
	for _, line := range agent.Lines() {
		if !line.FromAgent {
			continue
		}
		m, err := acptest.Parse([]byte(line.Raw))
		if err != nil {
			continue
		}
		id, _ := m.Get("update.toolCallId").(string)
		if text, ok := m.Get("update.rawInput.new_str").(string); ok {
			lines[id] = strings.TrimSuffix(text, "\nend\n")
		}
		if m.Get("update.status") == "completed" {
			done = append(done, lines[id])
		}
	}
	return done
}
