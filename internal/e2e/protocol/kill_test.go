package protocol

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

var kills = flag.Int("kills", 0, "how often TestKill_AtAnyMoment kills the agent; 0 is 12, and 5 in the short form")

// killModel works for a while: each turn edits a file, runs a command that notes that it ran, and
// delegates to a subagent that does the same. What it writes fills killWindow within two turns, so
// that the conversation is compacted again and again.
const killModel = `{"when": "^turn (\\d+)$", "say": "Working on ${match.1}.", "chunk": 3, "call": [{"name": "write", "args": {"path": "file.txt", "content": "BEGIN ${match.1} FILLER END\n"}}]}
{"call": [{"name": "bash", "args": {"cmd": "echo main-${match.1} >> runs"}}]}
{"call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "child ${match.1}"}}]}
{"say": "Done with ${match.1}.", "chunk": 3}
{"when": "^child (\\d+)$", "call": [{"name": "bash", "args": {"cmd": "echo child-${match.1} >> runs"}}]}
{"say": "Noted."}
{"system": "^You condense the conversation", "say": "The file was written, the commands ran.", "chunk": 3, "repeat": -1}
`

// killPatience is long: where the disk is busy, a killed process ends only when its sync returns.
const killPatience = 3 * time.Minute

// killWindow is the model's window, in tokens.
const killWindow = `{"model": {"window": 20480}}`

// TestKill_AtAnyMoment kills the agent with SIGKILL at random moments of its turns, and loads the
// session in the next process: it always loads, every prompt that was answered is there with its
// answer, the file that is edited is never half of one, and no command ran twice (R139, R141, R142).
// make kill does it a thousand times.
func TestKill_AtAnyMoment(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SIGKILL")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	model := strings.ReplaceAll(killModel, "FILLER", strings.Repeat("x", 20_000))
	home := t.TempDir()
	config := filepath.Join(home, "window.jsonc")
	if err := os.WriteFile(config, []byte(killWindow), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &killed{t: t, dir: dir, options: acptest.Options{
		Home: home, Model: model, Env: []string{"ACP_AGENT_CONFIG=" + config},
		Killed: true, Unjudged: true, Permission: acptest.Answer("allow_once"), Patience: killPatience,
	}}
	rounds := cmp.Or(*kills, testreq.Rounds(5, 12))
	for range rounds {
		// Most moments lie within the first turn of a process; now and then several end.
		k.round(time.Duration(random.ExpFloat64() * float64(acptest.Slack(400*time.Millisecond))))
	}
	k.t.Logf("%d prompts, of which %d were answered; %d compactions", k.turn, len(k.answered)/2, k.compacted)
	if len(k.answered) == 0 {
		t.Error("no prompt was ever answered: the moments are too early to show anything")
	}
	if rounds >= 100 && k.compacted == 0 {
		t.Error("the conversation was never compacted")
	}
}

// killed is a session whose agent is killed again and again.
type killed struct {
	t       *testing.T
	dir     string
	options acptest.Options

	id       string
	turn     int
	answered []string // texts of prompts and answers that must be there

	compacted int // compactions that ended
}

// round starts the agent, loads the session, prompts it, and kills it after a while.
func (k *killed) round(after time.Duration) {
	k.t.Helper()
	a := acptest.Start(k.t, k.options)
	a.Initialize("")
	if k.id == "" {
		s := a.NewSession(k.dir)
		k.id = s.ID
		k.prompt(a) // a session without a word is not stored
	} else {
		k.load(a)
	}
	k.check()
	timer := time.AfterFunc(after, func() { _ = a.Signal(syscall.SIGKILL) })
	defer timer.Stop()
	from := len(a.Lines())
	for k.prompt(a) {
	}
	_ = a.Exit(10 * time.Second) // how it ends is known
	k.compacted += strings.Count(texts(a.Lines()[from:], "agent_message_chunk"), "The conversation was compacted")
	a.Close()
}

// prompt sends the next prompt and reports whether it was answered.
func (k *killed) prompt(a *acptest.Agent) bool {
	k.turn++
	text := fmt.Sprintf("turn %d", k.turn)
	if !a.TryRequest("session/prompt", map[string]any{"sessionId": k.id, "prompt": []any{map[string]any{"type": "text", "text": text}}}) {
		return false
	}
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
