//go:build unix

package commands

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
)

// R67: an interrupt of a run that waits for subagents ends them, and what they run.
func TestRun_InterruptEndsSubagents(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, project := t.TempDir(), t.TempDir()
	model := filepath.Join(home, "model.jsonl")
	if err := os.WriteFile(model, []byte(`{"when": "^go$", "call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "sleep", "background": true}}]}
{"say": "It sleeps."}
{"when": "^sleep$", "call": [{"name": "task", "args": {"subagent_type": "explore", "prompt": "wait"}}]}
{"when": "^wait$", "call": [{"name": "glob", "args": {"filePattern": "*"}}]}
{"wait": "for the interrupt"}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "run", "--cwd", project, "go")
	cmd.Env = append(os.Environ(), acptest.EnvProgram+"=1", "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home,
		"XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home, "GORACE=atexit_sleep_ms=0", "ACP_AGENT_MODEL_SCRIPT="+model)
	var answer strings.Builder
	cmd.Stdout = &answer
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(acptest.Slack(30*time.Second), func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	var seen strings.Builder
	underWay := map[string]bool{"• waiting for subagents in the background: general": true, "• general > explore > Find *: done": true}
	for lines := bufio.NewScanner(progress); lines.Scan(); {
		seen.WriteString(lines.Text() + "\n")
		line, _, _ := strings.Cut(lines.Text(), ", ") // the other one is named, too, if it was faster
		if !underWay[line] {
			continue
		}
		if delete(underWay, line); len(underWay) == 0 {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 {
		t.Errorf("the run ended with %v, want exit code %d", err, 130)
	}
	for _, want := range []string{"• general > explore: cancelled", "• general: cancelled"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, seen.String())
		}
	}
	if answer.String() != "It sleeps.\n" {
		t.Errorf("answered %q", answer.String())
	}
}
