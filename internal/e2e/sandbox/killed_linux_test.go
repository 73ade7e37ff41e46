package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/sandbox"
)

// TestRobust_KilledLeavesNothing kills an agent while its commands run in bubblewrap: what
// was made for them in the project is gone once the next agent of the user has started,
// but not before the commands of a living agent have ended.
func TestRobust_KilledLeavesNothing(t *testing.T) {
	t.Parallel()
	needSandbox(t, sandbox.Bubblewrap)
	home, project := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	made := func() (names []string) {
		for _, name := range []string{".acp-agent", ".agents", ".git/hooks"} {
			if _, err := os.Lstat(filepath.Join(project, name)); !errors.Is(err, fs.ErrNotExist) {
				names = append(names, name)
			}
		}
		return names
	}
	start := func(killed bool) *acptest.Agent {
		agent := acptest.Start(t, acptest.Options{
			Home: home, Killed: killed, Permission: acptest.Answer("allow_once"),
			Model: `{"call": [{"name": "bash", "args": {"cmd": "echo running; touch started; sleep 300"}}]}`,
		})
		agent.Initialize("")
		agent.NewSession(project).Prompt("sleep")
		agent.Expect("the command", acptest.Update("tool_call_update", "content", "running"))
		return agent
	}
	victim := start(true)
	all := made()
	if len(all) != 3 {
		t.Fatalf("for a command were made %q", all)
	}
	other := start(false)
	if err := victim.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := victim.Exit(5 * time.Second); err == nil {
		t.Error("the agent was not killed")
	}
	idle := acptest.Start(t, acptest.Options{Home: home, Model: agenttest.Hello})
	idle.Initialize("")
	idle.NewSession(project)
	awaitSwept(t, home, 1)
	if now := made(); !slices.Equal(now, all) {
		t.Errorf("while a living agent needs them there are %q of %q", now, all)
	}
	other.Close()
	if now := made(); len(now) > 0 {
		t.Errorf("after the last command there are %q", now)
	}
	// And of an agent that was killed alone.
	victim = start(true)
	if err := victim.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = victim.Exit(5 * time.Second) // by the signal
	if len(made()) == 0 {
		t.Error("the agent that was killed left nothing to sweep")
	}
	next := acptest.Start(t, acptest.Options{Home: home, Model: agenttest.Hello})
	next.Initialize("")
	next.NewSession(project)
	awaitSwept(t, home, 0)
	if now := made(); len(now) > 0 {
		t.Errorf("after the next start there are %q", now)
	}
}

// awaitSwept waits until no more than so many agents have claims.
func awaitSwept(t *testing.T, home string, claims int) {
	t.Helper()
	deadline := time.Now().Add(upWait)
	for {
		left, err := filepath.Glob(filepath.Join(home, ".local", "state", "acp-agent", "held", "*.held"))
		if err == nil && len(left) <= claims {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("claims %q, %v; want %d", left, err, claims)
		}
		time.Sleep(5 * time.Millisecond) // the sweep is not announced
	}
}
