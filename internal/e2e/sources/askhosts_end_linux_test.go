package sources

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
)

// askingServer writes a server that reaches for hosts, and returns the configuration with it.
func askingServer(t *testing.T, begin string, args ...string) (config string) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		testreq.Skip(t, "curl is not installed")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "server.sh")
	if err := os.WriteFile(script, fmt.Appendf(nil, faultyServer, startingServer+begin), 0o600); err != nil {
		t.Fatal(err)
	}
	return testfile.Config(t, `{"sandbox": {"level": "bubblewrap"}, "roots": {"read": [%q]}, "mcp": {"servers": {"t": {"command": ["bash", %q, %q, %q], "network": "ask", "trust": "allow"}}}}`,
		dir, script, args[0], args[1])
}

// A server that ends whenever a host is closed to it is started again, and the user is not asked again about
// what they rejected (R124).
func TestMCP_AskedHostsRestart(t *testing.T) {
	t.Parallel()
	first, came := website(t)
	second, never := website(t)
	config := askingServer(t, "begin() { curl -sS http://$first/ >/dev/null 2>&1; curl -sSf http://$second/ >/dev/null 2>&1 || exit 1; }\n", first, second)
	user := &hostAsked{answers: map[string]string{first: "allow_always", second: "reject_once"}}
	agent := acptest.Start(t, acptest.Options{Model: `{"say": "Hello.", "repeat": -1}`, Env: []string{config}, Permission: user.permission})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	for began := time.Now(); came.Load() < 3; time.Sleep(50 * time.Millisecond) { // the user prompts again
		say(session, "hello")
		if text := say(session, "/mcp"); strings.Contains(text, "cannot be confined") {
			testreq.Skip(t, text)
		}
		if time.Since(began) > acptest.Slack(30*time.Second) {
			t.Fatalf("the server was started %d times", came.Load())
		}
	}
	if user.count() != 2 || never.Load() != 0 {
		t.Errorf("over %d starts asked %q, and the rejected host was visited %d times", came.Load(), user.texts, never.Load())
	}
}

// The question of a turn that is cancelled, or that the user dismisses, comes again in the next turn, not
// in the same one, and a recording of all that replays.
func TestMCP_AskedHostsCancelled(t *testing.T) {
	t.Parallel()
	first, came := website(t)
	second, never := website(t)
	config := askingServer(t, "begin() { until curl -sSf http://$first/ >/dev/null 2>&1; do sleep 0.1; done; }\n", first, second)
	file := filepath.Join(t.TempDir(), "recording.jsonl")
	asked := make(chan *acptest.Permission, 8)
	agent := acptest.Start(t, acptest.Options{
		Model: `{"say": "Hello.", "repeat": -1}`, Env: append(quick, config), Args: []string{"--record", file},
		Permission: func(p *acptest.Permission) { asked <- p },
	})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	turn := session.Prompt("hello")
	late := <-asked
	session.Cancel()
	turn.Ends("cancelled")
	late.Choose("allow_always")
	turn = session.Prompt("hello again")
	(<-asked).Dismiss()
	turn.Ends("end_turn") // two seconds later, in which the server tries again
	if len(asked) > 0 || came.Load() != 0 {
		t.Errorf("%d more questions in the same turn, and %d visits", len(asked), came.Load())
	}
	for answered, began := false, time.Now(); !answered; {
		if time.Since(began) > acptest.Slack(20*time.Second) {
			t.Fatal("the user is not asked again")
		}
		turn = session.Prompt("and again")
		select {
		case p := <-asked:
			answered = p.Choose("allow_once")
		case <-time.After(time.Second): // the turn may have ended before the server tried
		}
		turn.Ends("end_turn")
	}
	awaitReady(t, session)
	if came.Load() != 1 || never.Load() != 0 {
		t.Errorf("%d visits of the first host and %d of the second, want 1 and 0", came.Load(), never.Load())
	}
	agent.Close()
	if out, code := agenttest.Replay(t, file); code != 0 || !strings.Contains(out, "no difference") {
		t.Errorf("replay: exit code %d: %s", code, out)
	}
}

// A session, and an editor, that end while a question stands leave nothing of the server that waits, and an
// answer that comes to the wrong question has no effect.
func TestMCP_AskedHostsAtTheEnd(t *testing.T) {
	t.Parallel()
	first, came := website(t)
	second, _ := website(t)
	config := askingServer(t, "", first, second)
	agent := acptest.Start(t, acptest.Options{Model: `{"say": "Hello.", "repeat": -1}`, Env: append(quick, config)})
	agent.Initialize("")
	closing, staying := agent.NewSession(t.TempDir()), agent.NewSession(t.TempDir())
	turn := closing.Prompt("hello")
	asked := agent.NextPermission()
	closing.CloseSession()
	turn.Wait()
	staying.Prompt("hello")
	agent.NextPermission()
	asked.Choose("allow_always")       // that of the session that was closed
	time.Sleep(200 * time.Millisecond) // in which the answer could have an effect
	agent.Close()
	if came.Load() != 0 {
		t.Errorf("without an answer the host was visited %d times", came.Load())
	}
}

// A tool of a server that is called by hand asks about hosts as a turn does, or refuses them and says how to
// allow them.
func TestMCP_AskedHostsByHand(t *testing.T) {
	t.Parallel()
	first, came := website(t)
	second, visited := website(t)
	config := askingServer(t, "", first, second)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flags   []string
		said    string
		visits  int32
		errSays string
	}{
		{[]string{"--yes"}, "the page the page", 2, ""},
		{nil, "no user is here who could allow it", 0, "to open it, add"},
	} {
		came.Store(0)
		visited.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), acptest.Slack(20*time.Second))
		defer cancel()
		cmd := exec.CommandContext(ctx, program, append([]string{"tool", "mcp__t__x", "--cwd", t.TempDir()}, tt.flags...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), acptest.EnvProgram + "=1", config}
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Errorf("%v: %v: %s", tt.flags, err, errs.String())
		}
		if !strings.Contains(out.String(), tt.said) || !strings.Contains(errs.String(), tt.errSays) || visited.Load() != tt.visits || came.Load() != tt.visits/2 {
			t.Errorf("%v: %d visits, it said %s, and %s", tt.flags, visited.Load(), out.String(), errs.String())
		}
	}
}
