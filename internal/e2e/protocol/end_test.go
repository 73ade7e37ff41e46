package protocol

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
)

// sleepers runs a child, and one that has left its session, and waits for both.
const sleepers = `{"call": [{"name": "bash", "args": {"cmd": "setsid sleep 300 & sleep 301 & echo begun; wait"}}]}`

// asleep brings an agent to where the command of sleepers runs.
func asleep(t *testing.T, o acptest.Options) (*acptest.Agent, *acptest.Turn) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the command is for a POSIX shell")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		o.Model = strings.ReplaceAll(sleepers, "setsid ", "")
	} else {
		o.Model = sleepers
	}
	o.Permission = acptest.Answer("allow_once")
	agent := acptest.Start(t, o)
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	turn := session.Prompt("sleep")
	agent.Expect("the command's output", acptest.Update("tool_call_update", "content", "begun"))
	awaitSleepers(t, agent)
	return agent, turn
}

// awaitSleepers waits until the shell's children have become what they are to
// be: it writes "begun" before that.
func awaitSleepers(t *testing.T, agent *acptest.Agent) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for runtime.GOOS == "linux" {
		running := fmt.Sprint(agent.Running())
		if strings.Count(running, "(sleep)") == 2 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the two sleepers are not both there: %s", running)
		}
		time.Sleep(5 * time.Millisecond) // no one tells us when foreign processes exec
	}
}

// TestRobust_InputEnds is R149: the client closes the input in the middle of a
// turn in which a command runs, with a child that has left its session. The
// prompt is still answered; Close checks that the agent is gone within 2 s, with
// 0, and that no process is left.
func TestRobust_InputEnds(t *testing.T) {
	t.Parallel()
	agent, turn := asleep(t, acptest.Options{})
	agent.Close()
	turn.Ends("cancelled")
}

// TestRobust_InputEndsAnywhere is R149 in the other states of a connection.
func TestRobust_InputEndsAnywhere(t *testing.T) {
	write := `{"call": [{"name": "write", "args": {"path": "a", "content": "x"}}]}`
	for _, tc := range []struct {
		name, model string
		drive       func(*acptest.Agent, *acptest.Session)
	}{
		{"before initialize", "", nil},
		{"idle", agenttest.Hello, func(*acptest.Agent, *acptest.Session) {}},
		{"silent model", `{"wait": "for ever"}`, func(_ *acptest.Agent, s *acptest.Session) { s.Prompt("go") }},
		{"open permission", write, func(_ *acptest.Agent, s *acptest.Session) {
			s.Prompt("go")
			s.NextPermission()
		}},
		{"queue", `{"wait": "for ever"}`, func(_ *acptest.Agent, s *acptest.Session) {
			for range 5 {
				s.Prompt("go")
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			agent := acptest.Start(t, acptest.Options{Model: tc.model})
			if tc.drive != nil {
				agent.Initialize("")
				tc.drive(agent, agent.NewSession(t.TempDir()))
			}
			agent.Close()
		})
	}
}

// envVictim makes TestRobust_ClientKilled the client that is killed.
const envVictim = "ACPTEST_VICTIM"

// TestRobust_ClientKilled is R149, pain 18: the client is killed with its agent
// in the middle of a turn. The agent sees the end of its input and is gone soon,
// with all that it has started.
func TestRobust_ClientKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what is left of processes is seen on Linux only")
	}
	if os.Getenv(envVictim) != "" {
		agent, _ := asleep(t, acptest.Options{Killed: true})
		fmt.Printf("agent %d\n", agent.PID)
		select {} // until it is killed
	}
	client := exec.Command(os.Args[0], "-test.run=^TestRobust_ClientKilled$")
	client.Env = append(os.Environ(), envVictim+"=1")
	out, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	lines, agentPID := bufio.NewScanner(out), 0
	for agentPID == 0 && lines.Scan() {
		_, _ = fmt.Sscanf(lines.Text(), "agent %d", &agentPID) // other lines are the test's own
	}
	if agentPID == 0 {
		t.Fatalf("the client did not come so far: %v", client.Wait())
	}
	tree := acptest.Tree(agentPID)
	if len(tree) < 3 {
		t.Errorf("the agent runs %q, want at least itself and the two sleepers", tree)
	}
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = client.Wait() // by the signal
	for len(tree.Alive()) > 0 && time.Since(killed) < acptest.Slack(2*time.Second) {
		time.Sleep(5 * time.Millisecond) // no one tells us when foreign processes end
	}
	if left := tree.Alive(); len(left) > 0 {
		t.Errorf("%s after the client was killed there are still %q", time.Since(killed), left)
	}
}

// TestRobust_OutputCloses is R149: a client that no longer listens, but keeps
// the input open, ends the agent too.
func TestRobust_OutputCloses(t *testing.T) {
	t.Parallel()
	agent := acptest.Start(t, acptest.Options{Model: `{"say": "` + long(4000) + `", "chunk": 4, "pause_ms": 10}`, Killed: true})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	session.Prompt("go")
	agent.Expect("text", acptest.Update("agent_message_chunk"))
	agent.Deafen()
	if err := agent.Exit(acptest.Slack(2 * time.Second)); err == nil {
		t.Error("the agent exited with 0 although it could not answer")
	}
}

// TestRobust_Signal is R149: SIGTERM ends the agent as the end of its input does.
func TestRobust_Signal(t *testing.T) {
	t.Parallel()
	agent, _ := asleep(t, acptest.Options{Killed: true})
	if err := agent.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := agent.Exit(acptest.Slack(2 * time.Second)); err != nil {
		t.Errorf("the agent did not exit well: %v", err)
	}
	if left := agent.Running(); len(left) > 0 {
		t.Errorf("there are still %q", left)
	}
}
