package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/editor"
	"acp-agent/internal/testkit/testreq"
)

// envEditors says where the table of editors by scripts is written; it has every script
// played in every editor (make editors).
const envEditors = "ACP_EDITORS"

// everyday are the scripts that every run of the tests plays in every editor: what users
// meet each day, and where editors differ. The short form has a quarter of them.
var everyday = []string{
	"bash_plain", "bash_terminal", "permission_allow_always", "turn_read_edit_bash", "subagent_question", "mode_plan_exit",
	"seed-amp-ch6-patch", "cancel_command", "permission_together_judged",
}

// TestEditors plays scripts in the models of the editors: the editor's own initialize
// request, answers by its buttons, and no output, diff, question, answer or state lost.
func TestEditors(t *testing.T) {
	t.Parallel()
	scripts := filepath.Join("..", "..", "..", "testdata", "scripts")
	names, table := testreq.Pick(2, everyday), os.Getenv(envEditors)
	if table != "" {
		files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		names = nil
		for _, file := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".txtar"))
		}
	}
	dir := t.TempDir()
	results := &editorTable{cells: map[string]map[string]string{}}
	if table != "" {
		results.patience = 3 * time.Second // many scripts wait for what an editor never gets
	}
	for _, name := range names {
		results.cells[name] = map[string]string{}
		text, err := os.ReadFile(filepath.Join(scripts, name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(playOnly(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("all", func(t *testing.T) {
		for _, e := range editor.All {
			t.Run(e.Name(), func(t *testing.T) {
				params := scriptParams(t, func(ts *testscript.TestScript, _ bool, args []string) { results.play(ts, e, args) })
				params.Dir = dir
				testscript.Run(t, params)
			})
		}
	})
	if table != "" {
		if err := os.WriteFile(table, []byte(results.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// playOnly is a script without what it says of its transcript, for that differs from
// editor to editor, and without what follows the last play.
func playOnly(script string) string {
	commands, files, hasFiles := strings.Cut(script, "\n-- ")
	var kept []string
	played := 0
	for line := range strings.Lines(commands) {
		verb := strings.TrimPrefix(strings.TrimSpace(line), "! ")
		if i := strings.Index(verb, "] "); strings.HasPrefix(verb, "[") && i > 0 {
			verb = strings.TrimPrefix(verb[i+2:], "! ")
		}
		verb, rest, _ := strings.Cut(verb, " ")
		if !slices.Contains([]string{"cmp", "cmpenv", "grep", "exists", "stdout", "stderr"}, verb) && !looksBack(verb, rest) {
			kept = append(kept, line)
		}
		if verb == "play" {
			played = len(kept)
		}
	}
	if played > 0 {
		kept = kept[:played]
	}
	if !hasFiles {
		return strings.Join(kept, "")
	}
	return strings.Join(kept, "") + "\n-- " + files
}

// looksBack reports whether a command looks at what was answered or said, which differs from
// editor to editor.
func looksBack(verb, rest string) bool {
	switch verb {
	case "exec", "cp", "mv":
		return strings.Contains(" "+rest, " transcript") || strings.Contains(rest, "/audit/")
	case "agent":
		rest = strings.TrimLeft(rest, "=0123456789 ")
		return strings.HasPrefix(rest, "audit ") || strings.HasPrefix(rest, "permissions ")
	}
	return false
}

// editorTable is what came of each script in each editor.
type editorTable struct {
	mu       sync.Mutex
	cells    map[string]map[string]string // by script and editor
	patience time.Duration                // of each play; zero is the usual
}

// play plays the client of a script in an editor, and fails when its user loses anything.
func (t *editorTable) play(ts *testscript.TestScript, e editor.Editor, args []string) {
	dir, options := playOptions(ts, args)
	options.Patience = t.patience
	played := acptest.PlayAs(&scriptTB{ts: ts}, "client", ts.ReadFile("client"), dir, editor.User(e), options)
	losses := editor.Judge(e, played.Lines)
	t.set(ts.Name(), e.Name(), cell(played, losses))
	for _, l := range losses {
		ts.Logf("lost in %s: %s", e.Name(), l)
	}
	for _, p := range played.Problems {
		ts.Logf("%s", p)
	}
	if played.Left != "" {
		ts.Logf("left: %s", played.Left)
	}
	if len(losses)+len(played.Problems) > 0 {
		ts.Fatalf("%d losses and %d problems in %s", len(losses), len(played.Problems), e.Name())
	}
}

// cell is what the table says of a script in an editor.
func cell(played acptest.Performance, losses []editor.Loss) string {
	var words []string
	for _, l := range losses {
		if !slices.Contains(words, l.What) {
			words = append(words, l.What)
		}
	}
	if len(played.Problems) > 0 {
		words = append(words, "protocol")
	}
	switch {
	case len(words) > 0:
		return "LOST " + strings.Join(words, ", ")
	case played.Left != "":
		return "until " + played.Left
	}
	return "ok"
}

func (t *editorTable) set(script, e, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.cells[script][e]; !strings.HasPrefix(before, "LOST") { // a script may play twice
		t.cells[script][e] = what
	}
}

func (t *editorTable) String() string {
	var b strings.Builder
	b.WriteString("| script |")
	for _, e := range editor.All {
		b.WriteString(" " + e.Name() + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(editor.All)) + "\n")
	var scripts []string
	for script := range t.cells {
		scripts = append(scripts, script)
	}
	slices.Sort(scripts)
	for _, script := range scripts {
		fmt.Fprintf(&b, "| %s |", script)
		for _, e := range editor.All {
			what := t.cells[script][e.Name()]
			if what == "" {
				what = "no client"
			}
			b.WriteString(" " + what + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// judgeUnnamed holds the lines of a script against every editor that has the capabilities
// of its client.
func judgeUnnamed(tb acptest.TB, lines []acptest.Line) {
	for _, e := range editor.All {
		if !editor.Fits(e, lines) {
			continue
		}
		for _, l := range editor.JudgeUnnamed(e, lines) {
			tb.Errorf("lost in %s: %s", e.Name(), l)
		}
	}
}
