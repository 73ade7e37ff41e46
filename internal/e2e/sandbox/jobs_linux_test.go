package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
)

// startJobs opens a session of an agent whose model says what the lines have.
func startJobs(t *testing.T, level sandbox.Kind, killed bool, jobs int, lines ...string) *acptest.Session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config := testfile.JSON(t, filepath.Join(dir, "config.jsonc"), map[string]any{
		"sandbox": map[string]any{"level": level}, "limits": map[string]any{"jobs": jobs},
	})
	project, home := filepath.Join(dir, "project"), filepath.Join(dir, "home")
	for _, made := range []string{project, home} {
		if err := os.Mkdir(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	agent := acptest.Start(t, acptest.Options{
		Home: home, Model: strings.Join(lines, "\n"), Killed: killed, Permission: acptest.Answer("allow_once"),
		Env: []string{"ACP_AGENT_CONFIG=" + config},
	})
	agent.Initialize("")
	return agent.NewSession(project)
}

func background(cmd string) string {
	return fmt.Sprintf(`{"name": "bash", "args": {"cmd": %q, "background": true}}`, cmd)
}

func calls(list ...string) string { return `{"call": [` + strings.Join(list, ", ") + `]}` }

// awaitGone waits until no process sleeps for so long any more.
func awaitGone(t *testing.T, what, nap string) {
	t.Helper()
	ended := time.Now()
	for napping(t, nap) > 0 {
		if took := time.Since(ended); took > acptest.Slack(5*time.Second) {
			t.Fatalf("%s: a process of the job is there %v later", what, took)
		}
		time.Sleep(lookAgain)
	}
}

// TestJobs_End: of a job that heeds no signal, with a process that left its session, nothing is
// left after session/close, after the end of the input, and after the agent was killed; under
// each sandbox and with none. A cancel leaves it.
func TestJobs_End(t *testing.T) {
	testreq.Beside(t)
	for i, level := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Landlock, sandbox.None} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			needSandbox(t, level)
			for j, end := range ends {
				nap := fmt.Sprintf("6%d%d%d", os.Getpid(), i, j)
				s := startJobs(t, level, end.name == "kill -9", 2,
					calls(background(`trap "" TERM HUP INT; (setsid sh -c 'trap "" TERM; sleep `+nap+`' &); echo up; while :; do sleep 0.05; done`)),
					`{"wait": "for the cancel"}`)
				turn := s.Prompt("start")
				s.Expect("the job", acptest.Update("tool_call_update", "rawOutput", "job_1"))
				awaitNaps(t, []*acptest.Session{s}, [][]string{{nap}})
				s.Cancel()
				turn.Ends("cancelled")
				if napping(t, nap) == 0 {
					t.Errorf("%s: the cancel has ended the job", end.name)
				}
				if err := end.end(s); err != nil {
					t.Fatal(err)
				}
				awaitGone(t, end.name, nap)
			}
		})
	}
}

// TestJobs_Server: a server in the background answers the next command, which finds it in the
// network namespace of the session's commands, and is stopped.
func TestJobs_Server(t *testing.T) {
	needServers(t)
	t.Parallel()
	s := startJobs(t, sandbox.Bubblewrap, false, 2,
		calls(background("echo the page > page.txt; sleep 3; exec python3 -u -m http.server 8917 --bind 127.0.0.1")),
		calls(`{"name": "job_output", "args": {"job": "job_1", "pattern": "Serving HTTP", "wait": 60}}`),
		calls(`{"name": "bash", "args": {"cmd": "curl -sS http://127.0.0.1:8917/page.txt"}}`),
		`{"expect": {"last_result": "the page"}, "call": [{"name": "job_output", "args": {"job": "job_1"}}]}`,
		`{"expect": {"last_result": "GET /page.txt"}, "call": [{"name": "job_stop", "args": {"job": "job_1"}}]}`,
		`{"expect": {"last_result": "job_1 was stopped"}, "call": [{"name": "bash", "args": {"cmd": "curl -sS --max-time 5 http://127.0.0.1:8917/page.txt; echo code $?"}}]}`,
		`{"expect": {"last_result": "code"}, "say": "So it was: ${last_result}"}`)
	s.Prompt("serve").Ends("end_turn")
	if text := s.Text(); strings.Contains(text, "the page") || !strings.Contains(text, "So it was") {
		t.Errorf("after the server was stopped: %s", text)
	}
}

// TestJobs_Many: as many jobs run as may, and one more is refused; the end of the session ends
// all of them. In the short form ten may.
func TestJobs_Many(t *testing.T) {
	t.Parallel()
	many := testreq.Rounds(10, 100)
	nap := fmt.Sprintf("7%d", os.Getpid())
	var starts []string
	for range many + 1 {
		starts = append(starts, background("echo up; exec sleep "+nap))
	}
	s := startJobs(t, sandbox.None, false, many, calls(starts...),
		fmt.Sprintf(`{"expect": {"last_result": "%d jobs run in the background, and no more may"}, "call": [{"name": "job_list", "args": {}}]}`, many),
		fmt.Sprintf(`{"expect": {"last_result": "job_%d (running)"}, "say": "All run."}`, many))
	s.Prompt("start").Ends("end_turn")
	for until := time.Now().Add(upWait); napping(t, nap) < many; time.Sleep(lookAgain) { // a job runs before it sleeps
		if time.Now().After(until) {
			t.Fatalf("%d jobs sleep", napping(t, nap))
		}
	}
	if n := napping(t, nap); n != many {
		t.Errorf("%d jobs run", n)
	}
	t.Logf("the agent with %d jobs has used at most %d MB of memory", many, s.Peak()>>20)
	s.CloseSession()
	awaitGone(t, "session/close", nap)
}
