package protocol

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// killModel works for a while: each turn edits a file, runs a command that notes that it ran,
// starts another one in the background, and delegates to a subagent that does the same. What it
// writes fills killWindow within two turns, so that the conversation is compacted again and again.
const killModel = `{"when": "^turn (\\d+)\\.$", "say": "Working on ${match.1}.", "chunk": 3, "call": [{"name": "write", "args": {"path": "file.txt", "content": "BEGIN ${match.1} FILLER END\n"}}]}
{"call": [{"name": "bash", "args": {"cmd": "echo main-${match.1} >> runs"}}]}
{"call": [{"name": "bash", "args": {"cmd": "echo job-${match.1} >> runs; sleep 0.3", "background": true}}]}
{"call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "child ${match.1}"}}]}
{"say": "Done with ${match.1}.", "chunk": 3}
{"when": "^child (\\d+)$", "call": [{"name": "bash", "args": {"cmd": "echo child-${match.1} >> runs"}}]}
{"say": "Noted."}
{"system": "^You condense the conversation", "say": "The file was written, the commands ran.", "chunk": 3, "pause_ms": 2, "repeat": -1}
`

// killPatience is long: where the disk is busy, a killed process ends only when its sync returns.
const killPatience = 3 * time.Minute

// killWindow is the model's window, in tokens.
const killWindow = `{"model": {"window": 20480}}`

// killsOfSession is how often the agent of one session is killed. A session that grows without an
// end would make the loads ever longer, and show nothing more.
const killsOfSession = 25

// TestKill_AtAnyMoment kills the agent with SIGKILL at random moments of its turns, and loads the
// session in the next process: it always loads, every prompt that was answered is there with its
// answer, the file that is edited is never half of one, and no command ran twice (R139, R141, R142).
// make kill does it a thousand times, in sessions side by side.
func TestKill_AtAnyMoment(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SIGKILL")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	series := &killSeries{wanted: int64(cmp.Or(*kills, testreq.Rounds(3, 12))), started: time.Now()}
	if series.resume(t); series.before >= series.wanted {
		t.Logf("%d kills have passed already", series.before)
		return
	}
	lanes := min(3, 1+int(series.wanted)/killsOfSession)
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(seed, uint64(lane)))
				for series.taken.Load() < series.wanted && !t.Failed() {
					series.session(t, random)
				}
			})
		}
	})
	t.Log(series)
	if series.answered.Load() == 0 {
		t.Error("no prompt was ever answered: the moments are too early to show anything")
	}
	if series.done.Load()-series.before >= 100 && (series.compacted.Load() == 0 || series.compacting.Load() == 0 || series.working.Load() == 0) {
		t.Error("no conversation was compacted, or no kill came while one was, or while a command ran in the background")
	}
}

// session kills the agent of one session again and again.
func (s *killSeries) session(t *testing.T, random *rand.Rand) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	config := filepath.Join(home, "window.jsonc")
	if err := os.WriteFile(config, []byte(killWindow), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &killed{t: t, series: s, dir: dir, options: acptest.Options{
		Home: home, Model: strings.ReplaceAll(killModel, "FILLER", strings.Repeat("x", 20_000)), Env: []string{"ACP_AGENT_CONFIG=" + config},
		Killed: true, Unjudged: true, Permission: acptest.Answer("allow_once"), Patience: killPatience,
	}}
	for range killsOfSession {
		if s.taken.Add(1) > s.wanted || t.Failed() {
			break
		}
		// Most moments lie within the first turn of a process; now and then several end.
		k.round(time.Duration(random.ExpFloat64() * float64(acptest.Slack(400*time.Millisecond))))
		s.survived(t)
	}
	// What the last kill left is loaded, too.
	a := k.start()
	k.check()
	a.Close()
}

// killed is a session whose agent is killed again and again.
type killed struct {
	t       *testing.T
	series  *killSeries
	dir     string
	options acptest.Options

	id       string
	turn     int
	answered []string // texts of prompts and answers that must be there
}

// start starts the agent and opens the session.
func (k *killed) start() *acptest.Agent {
	k.t.Helper()
	began := time.Now()
	a := acptest.Start(k.t, k.options)
	a.Initialize(`{"session":{"compaction":{}}}`)
	k.series.opening.Add(int64(time.Since(began)))
	began = time.Now()
	if k.id == "" {
		k.id = a.NewSession(k.dir).ID
		k.prompt(a) // a session without a word is not stored
	} else {
		k.load(a)
	}
	k.series.loading.Add(int64(time.Since(began)))
	return a
}

// round starts the agent, prompts it, and kills it after a while.
func (k *killed) round(after time.Duration) {
	k.t.Helper()
	a := k.start()
	k.check()
	began := time.Now()
	timer := time.AfterFunc(after, func() { _ = a.Signal(syscall.SIGKILL) })
	defer timer.Stop()
	from := len(a.Lines())
	for k.prompt(a) {
	}
	k.series.turning.Add(int64(time.Since(began)))
	k.series.gone(time.Since(began.Add(after)))
	began = time.Now()
	_ = a.Exit(10 * time.Second) // how it ends is known
	k.observe(a.Lines()[from:])
	a.Close()
	k.series.ending.Add(int64(time.Since(began)))
}

// observe counts what was going on when the agent was killed.
func (k *killed) observe(lines []acptest.Line) {
	compacting := false
	open := map[any]bool{} // calls; true are commands in the background
	for _, l := range lines {
		if l.Message == nil {
			continue
		}
		switch kind, update := l.Message.Update(); kind {
		case "compaction_update":
			if compacting = update["status"] == "in_progress"; !compacting {
				k.series.compacted.Add(1)
			}
		case "tool_call", "tool_call_update":
			input, _ := update["rawInput"].(map[string]any)
			id := update["toolCallId"]
			open[id] = open[id] || input["background"] == true
			if update["status"] == "completed" || update["status"] == "failed" {
				delete(open, id)
			}
		}
	}
	var calling, working bool
	for _, background := range open {
		calling, working = calling || !background, working || background
	}
	for counter, was := range map[*atomic.Int64]bool{&k.series.compacting: compacting, &k.series.calling: calling, &k.series.working: working} {
		if was {
			counter.Add(1)
		}
	}
}

// prompt sends the next prompt and reports whether it was answered.
func (k *killed) prompt(a *acptest.Agent) bool {
	k.turn++
	k.series.prompts.Add(1)
	text := fmt.Sprintf("turn %d.", k.turn)
	if !a.TryRequest("session/prompt", map[string]any{"sessionId": k.id, "prompt": []any{map[string]any{"type": "text", "text": text}}}) {
		return false
	}
	k.series.answered.Add(1)
	k.answered = append(k.answered, text, fmt.Sprintf("Done with %d.", k.turn))
	return true
}

// load loads the session and insists on what was answered.
func (k *killed) load(a *acptest.Agent) {
	k.t.Helper()
	from := len(a.Lines())
	m := a.Request("session/load", map[string]any{"sessionId": k.id, "cwd": k.dir, "mcpServers": []any{}}).Wait()
	if m.Error != nil {
		k.t.Fatalf("load: %d %s", m.Error.Code, m.Error.Message)
	}
	shown := texts(a.Lines()[from:], "agent_message_chunk") + texts(a.Lines()[from:], "user_message_chunk")
	for _, text := range k.answered {
		if !strings.Contains(shown, text) {
			k.t.Errorf("%q was acknowledged and is lost", text)
		}
	}
}

// check looks at what the turns left on the disk.
func (k *killed) check() {
	k.t.Helper()
	if text, err := os.ReadFile(filepath.Join(k.dir, "file.txt")); err == nil && (!strings.HasPrefix(string(text), "BEGIN ") || !strings.HasSuffix(string(text), " END\n")) {
		k.t.Errorf("the file is half of one: %d bytes", len(text))
	}
	runs, _ := os.ReadFile(filepath.Join(k.dir, "runs"))
	seen := map[string]bool{}
	for run := range strings.Lines(string(runs)) {
		if seen[run] {
			k.t.Errorf("%q ran twice", strings.TrimSpace(run))
		}
		seen[run] = true
	}
}

// texts joins the texts of the updates of a kind.
func texts(lines []acptest.Line, kind string) string {
	var b strings.Builder
	for _, l := range lines {
		if l.Message == nil {
			continue
		}
		if got, update := l.Message.Update(); got == kind {
			content, _ := update["content"].(map[string]any)
			text, _ := content["text"].(string)
			b.WriteString(text)
		}
	}
	return b.String()
}
