package subagents

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
)

// TestSubagent_AsksOneAtATime is R73 and trap 37: of subagents that run side by side, one
// asks at a time, each says who it is, and all get their answers.
func TestSubagent_AsksOneAtATime(t *testing.T) {
	t.Parallel()
	const children = 8
	var calls []string
	for n := range children {
		calls = append(calls, fmt.Sprintf(`{"name": "task", "args": {"subagent_type": "general", "prompt": "write %d"}}`, n))
	}
	model := fmt.Sprintf(`{"when": "^go$", "call": [%s]}`+"\n"+`{"say": "Done."}`+"\n"+
		`{"when": "^write (\\d)$", "call": [{"name": "write", "args": {"path": "${match.1}.txt", "content": "x"}}]}`+"\n"+`{"say": "Written."}`+"\n", strings.Join(calls, ", "))
	var open, most, asked atomic.Int32
	agent := acptest.Start(t, acptest.Options{Model: model, Permission: func(p *acptest.Permission) {
		now := open.Add(1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		if title, _ := p.Get("params.toolCall.title").(string); !strings.HasPrefix(title, "general › Write ") {
			t.Errorf("a card is titled %q", title)
		}
		asked.Add(1)
		open.Add(-1) // before the answer, after which the next one may come
		p.Choose("allow_once")
	}})
	agent.Initialize("")
	project := t.TempDir()
	agent.NewSession(project).Prompt("go").Ends("end_turn")
	if most.Load() != 1 || asked.Load() != children {
		t.Errorf("%d cards, of which %d stood at once", asked.Load(), most.Load())
	}
	for n := range children {
		if _, err := os.Stat(filepath.Join(project, fmt.Sprintf("%d.txt", n))); err != nil {
			t.Error(err)
		}
	}
}

// TestSubagent_CancelAnyTime is R67 and R153: a cancel at any moment of a tree of
// subagents, blocking and in the background, is answered with cancelled when each call has
// its one final status, and the next prompt works. The check of every run looks at it.
func TestSubagent_CancelAnyTime(t *testing.T) {
	t.Parallel()
	const model = `
{"when": "^go$", "call": [{"name": "task", "args": {"subagent_type": "explore", "prompt": "look", "background": true}}, {"name": "task", "args": {"subagent_type": "general", "prompt": "deep"}}]}
{"say": "Done."}
{"when": "^deep$", "call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "deeper"}}, {"name": "task", "args": {"subagent_type": "explore", "prompt": "look", "background": true}}]}
{"say": "Deep."}
{"when": "^deeper$", "call": [{"name": "write", "args": {"path": "a.txt", "content": "x"}}, {"name": "task", "args": {"subagent_type": "explore", "prompt": "look"}}]}
{"call": [{"name": "glob", "args": {"filePattern": "*"}}]}
{"say": "Deeper.", "wait": "for the cancel"}
{"when": "^look$", "say": "I look about.", "chunk": 1, "pause_ms": 1, "call": [{"name": "glob", "args": {"filePattern": "*"}}]}
{"call": [{"name": "read", "args": {"path": "a.txt"}}]}
{"say": "Seen."}
{"when": "^and now$", "say": "Here."}
`
	const rounds = 40
	agent := acptest.Start(t, acptest.Options{Model: model, Permission: acptest.Answer("allow_once")})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		turn := session.Prompt("go")
		time.Sleep(time.Duration(random.IntN(int(acptest.Slack(60 * time.Millisecond))))) // any moment
		cancelled := time.Now()
		session.Cancel()
		turn.Ends("cancelled")
		if took := time.Since(cancelled); took > acptest.Slack(2*time.Second) {
			t.Errorf("the cancel was answered after %s", took)
		}
		session.Prompt("and now").Ends("end_turn")
	}
}
