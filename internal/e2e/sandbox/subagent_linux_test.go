package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// stubbornNap leaves, in sessions of their own, processes that ignore what asks them to
// end, and does so itself.
const stubbornNap = `trap "" TERM HUP INT
(setsid sh -c 'trap "" TERM; (setsid sh -c "trap \"\" TERM; sleep $0" &) ; exit 0' $1 &)
while :; do sleep 0.05; done
`

// busyAgentTree is a model whose main agent delegates to two subagents in the background and
// to one that it waits for, below which another one is; each has a command running.
func busyAgentTree(naps []string) string {
	var b strings.Builder
	task := func(prompt, more string) string {
		return fmt.Sprintf(`{"name": "task", "args": {"subagent_type": "general", "prompt": %q%s}}`, prompt, more)
	}
	fmt.Fprintf(&b, `{"when": "^go$", "call": [%s, %s, %s]}`+"\n", task("nap 0", `, "background": true`), task("nap 1", `, "background": true`), task("below", ""))
	fmt.Fprintf(&b, `{"when": "^stay$", "call": [%s, %s]}`+"\n"+`{"say": "They run."}`+"\n", task("nap 0", `, "background": true`), task("nap 1", `, "background": true`))
	fmt.Fprintf(&b, `{"when": "^below$", "call": [%s]}`+"\n", task("nap 2", ""))
	for i, nap := range naps {
		fmt.Fprintf(&b, `{"when": "^nap %d$", "call": [{"name": "bash", "args": {"cmd": "bash stubborn.sh %s"}}]}`+"\n", i, nap)
	}
	b.WriteString(`{"when": "^and now$", "say": "Here."}` + "\n")
	return b.String()
}

// TestSubagent_Cancel is R58 and R67: a cancel ends subagents at any depth, blocking and in
// the background, and everything that their commands have started, within 3 s, whether a
// turn runs or not. That each call has its one final status, before the answer of a
// cancelled turn, is checked of every run.
func TestSubagent_Cancel(t *testing.T) {
	testreq.Beside(t)
	for i, level := range testreq.Pick(1, []string{"bubblewrap", "landlock", "none"}) {
		for j, tt := range []struct {
			name, prompt string
			naps         int
			idle         bool
		}{
			{"while a turn runs", "go", 3, false},
			{"while none runs", "stay", 2, true},
		} {
			t.Run(level+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				var naps []string
				for n := range 3 {
					naps = append(naps, fmt.Sprintf("4%d%d%d%d", os.Getpid(), i, j, n))
				}
				session := startAgentTree(t, level, busyAgentTree(naps))
				turn := session.Prompt(tt.prompt)
				for _, nap := range naps[:tt.naps] {
					awaitNap(t, session, nap)
				}
				if tt.idle {
					turn.Ends("end_turn")
				}
				cancelled := time.Now()
				session.Cancel()
				if !tt.idle {
					turn.Ends("cancelled")
				}
				for _, nap := range naps {
					for napping(t, nap) > 0 {
						if took := time.Since(cancelled); took > acptest.Slack(3*time.Second) {
							t.Fatalf("%d are left %v after the cancel", napping(t, nap), took)
						}
						time.Sleep(lookAgain)
					}
				}
				for open := unended(session); len(open) > 0; open = unended(session) {
					if took := time.Since(cancelled); took > acptest.Slack(3*time.Second) {
						t.Fatalf("the calls %q are open %v after the cancel", open, took)
					}
					time.Sleep(5 * time.Millisecond)
				}
				t.Logf("gone %v after the cancel", time.Since(cancelled))
				session.Prompt("and now").Ends("end_turn")
			})
		}
	}
}

// startAgentTree starts the agent with an editor that allows everything once.
func startAgentTree(t *testing.T, level, model string) *acptest.Session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	for name, text := range map[string]string{
		"project/stubborn.sh": stubbornNap, "config.jsonc": fmt.Sprintf(`{"sandbox": {"level": %q}}`, level),
	} {
		if err := os.MkdirAll(project, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	agent := acptest.Start(t, acptest.Options{
		Model: model, Permission: acptest.Answer("allow_once"), Env: []string{"ACP_AGENT_CONFIG=" + filepath.Join(dir, "config.jsonc")},
	})
	agent.Initialize("")
	return agent.NewSession(project)
}

// upWait bounds the wait for a process that does not come up at all. Nothing is claimed of
// how long it takes: the machine may be busy.
const upWait = 2 * time.Minute

// awaitNap waits until a command of the session has started its process.
func awaitNap(t *testing.T, session *acptest.Session, nap string) {
	t.Helper()
	awaitNaps(t, []*acptest.Session{session}, [][]string{{nap}})
}

// awaitNaps waits until each session has started each of its processes. One that was seen
// counts, even if it has ended by the time that the last one comes up.
func awaitNaps(t *testing.T, sessions []*acptest.Session, naps [][]string) {
	t.Helper()
	for until := time.Now().Add(upWait); ; time.Sleep(lookAgain) {
		var missing []string
		up := allNaps(t)
		for i, session := range sessions {
			naps[i] = slices.DeleteFunc(slices.Clone(naps[i]), func(nap string) bool { return up[nap] > 0 })
			missing = append(missing, naps[i]...)
			if lines := session.Lines(); len(lines) > 0 && strings.Contains(lines[len(lines)-1].Raw, "cannot be confined") {
				testreq.Skip(t, lines[len(lines)-1].Raw)
			}
		}
		if len(missing) == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("the processes that sleep for %q did not come up", missing)
		}
	}
}

// unended lists the tool calls without a final status.
func unended(session *acptest.Session) []string {
	var open []string
	for _, l := range session.Lines() {
		if !l.FromAgent || l.Message == nil {
			continue
		}
		kind, update := l.Message.Update()
		id, _ := update["toolCallId"].(string)
		if status := update["status"]; status == "completed" || status == "failed" {
			open = slices.DeleteFunc(open, func(other string) bool { return other == id })
		} else if kind == "tool_call" {
			open = append(open, id)
		}
	}
	return open
}
