//go:build unix

package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/schematest"
	"acp-agent/internal/testkit/testreq"
)

// acpxScript is what the model answers to acpx.
const acpxScript = `{"when":"^repair$","call":[{"name":"edit","args":{"path":"a.txt","old_str":"old","new_str":"new"}}]}
{"expect":{"last_result":"Edited"},"call":[{"name":"bash","args":{"cmd":"cat a.txt > made.txt; echo by-the-command"}}]}
{"expect":{"last_result":"by-the-command"},"say":"All is done."}
{"when":"^again$","say":"A second answer."}
{"when":"^the agent was killed$","expect":{"messages":5},"say":"I know what was said."}
{"when":"^acpx was killed$","expect":{"messages":7},"say":"I still do."}
{"when":"^taken up after 1$","expect":{"messages":7},"say":"Here, too."}
{"when":"^taken up after 2$","expect":{"messages":9},"say":"Here, too."}
{"when":"^refused$","call":[{"name":"edit","args":{"path":"a.txt","old_str":"old","new_str":"new"}},{"name":"bash","args":{"cmd":"rm a.txt"}}]}
{"expect":{"last_result":"rejected"},"say":"Then it stays."}
{"when":"^two$","call":[{"name":"bash","args":{"cmd":"cp a.txt one.txt"}},{"name":"bash","args":{"cmd":"cp a.txt made.txt"}}]}
{"say":"Two were made."}
{"when":"^long$","call":[{"name":"bash","args":{"cmd":"echo $$ > pid; echo waiting; sleep 60"}}]}
`

// acpxDenied is the exit code of acpx after a turn in which it refused something, and
// acpxNode the oldest Node that it runs on.
const acpxDenied = 5

var acpxNode = [2]int{22, 13}

// acpx drives the agent with acpx from npm, a client without an editor. The cases of its
// conformance profile acp-core-v1 (openclaw/acpx, conformance/, 0060c0d) are not in the
// package. Those that it plays with permissions and with a turn that it cancels are the
// tests below, in our words; those of single messages are in TestConformance.
type acpx struct {
	*testing.T
	node, agent, home, project string
}

func newAcpx(t *testing.T) *acpx {
	t.Helper()
	binary := needInterop(t)
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := &acpx{T: t, node: nodeFor(t, acpxNode), agent: binary, home: home, project: filepath.Join(home, "project")}
	if err := os.Mkdir(x.project, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(x.project, "a.txt"): "old\n", filepath.Join(home, "model.jsonl"): acpxScript} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// nodeFor returns a Node that is new enough: the one of the packages, else that of the
// system.
func nodeFor(t *testing.T, oldest [2]int) string {
	t.Helper()
	bundled, err := filepath.Glob(filepath.Join(interopDir, "node_modules", "node-*", "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range append(bundled, "node") {
		out, err := exec.CommandContext(t.Context(), node, "--version").Output()
		if err != nil {
			continue
		}
		major, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
		minor, _, _ := strings.Cut(rest, ".")
		var found [2]int
		found[0], _ = strconv.Atoi(major)
		found[1], _ = strconv.Atoi(minor)
		if slices.Compare(found[:], oldest[:]) >= 0 {
			return node
		}
	}
	testreq.Skip(t, "no Node is new enough for acpx")
	return ""
}

// command is acpx with these arguments. Its own state and the agent's are in the home.
func (x *acpx) command(ctx context.Context, args ...string) *exec.Cmd {
	x.Helper()
	args = append([]string{
		filepath.Join(interopDir, "node_modules", "acpx", "dist", "cli.js"), "--agent", x.agent, "--cwd", x.project, "--ttl", "120", "--format", "json",
	}, args...)
	cmd := exec.CommandContext(ctx, x.node, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + x.home, "ACP_AGENT_MODEL_SCRIPT=" + filepath.Join(x.home, "model.jsonl")}
	return cmd
}

// run runs acpx to its end, which must have this exit code, and returns what it printed.
func (x *acpx) run(code int, args ...string) []byte {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.Context(), time.Minute)
	defer cancel()
	cmd := x.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); err != nil && (!failed || exit.ExitCode() != code) || err == nil && code != 0 {
		x.Fatalf("acpx %q: %v, want exit code %d\n%s\n%s", args, err, code, stderr.Bytes(), out)
	}
	return out
}

// acpxLog is what acpx printed of a turn: the messages of both sides.
type acpxLog struct {
	text    string // of the answer
	stop    string
	session string
}

// read judges each message by the official schema and returns what they say.
func (x *acpx) read(out []byte) acpxLog {
	x.Helper()
	validator := schematest.Open(x.T)
	var log acpxLog
	var said strings.Builder
	asked := map[string]bool{} // ids of the agent's requests
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				SessionID string `json:"sessionId"`
				Update    struct {
					SessionUpdate string `json:"sessionUpdate"`
					Content       json.RawMessage
				} `json:"update"`
			} `json:"params"`
			Result struct {
				StopReason string `json:"stopReason"`
				SessionID  string `json:"sessionId"`
			} `json:"result"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			x.Fatalf("acpx printed %q: %v", lines.Text(), err)
		}
		direction, fromAgent := schematest.ToAgent, acpxFromAgent(m.Method)
		switch id := string(m.ID); {
		case m.Method != "" && fromAgent:
			direction = schematest.ToClient
			if id != "" {
				asked[id] = true
			}
		case m.Method == "" && (m.Result.StopReason != "" || m.Result.SessionID != "" || !asked[id]):
			direction = schematest.ToClient
		case m.Method == "":
			delete(asked, id)
		}
		if err := validator.Message(direction, lines.Bytes()); err != nil {
			x.Errorf("%v: %.300s", err, lines.Text())
		}
		var content struct{ Text string }
		if m.Params.Update.SessionUpdate == "agent_message_chunk" && json.Unmarshal(m.Params.Update.Content, &content) == nil {
			said.WriteString(content.Text)
		}
		if m.Result.StopReason != "" {
			log.stop = m.Result.StopReason
		}
		if m.Method == "session/prompt" {
			log.session = m.Params.SessionID
		}
	}
	if err := lines.Err(); err != nil {
		x.Fatal(err)
	}
	log.text = said.String()
	return log
}

// acpxFromAgent reports whether a method is called by the agent.
func acpxFromAgent(method string) bool {
	area, _, _ := strings.Cut(method, "/")
	return area == "fs" || area == "terminal" || area == "elicitation" || method == "session/update" || method == "session/request_permission"
}

// wantTurn checks how a turn ended.
func (x *acpx) wantTurn(log acpxLog, stop, text string) {
	x.Helper()
	if log.stop != stop || log.text != text {
		x.Errorf("the turn ended with %q and said %q; want %q, %q", log.stop, log.text, stop, text)
	}
}

// wantFiles checks what files of the project hold; "" means that there is none.
func (x *acpx) wantFiles(want map[string]string) {
	x.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(x.project, name))
		if string(got) != text || text == "" && !errors.Is(err, os.ErrNotExist) {
			x.Errorf("%s holds %q, %v; want %q", name, got, err, text)
		}
	}
}

// An edit and a command that acpx approves are carried out, once.
func TestInterop_AcpxApproves(t *testing.T) {
	t.Parallel()
	x := newAcpx(t)
	x.wantTurn(x.read(x.run(0, "--approve-all", "exec", "repair")), "end_turn", "All is done.")
	x.wantFiles(map[string]string{"a.txt": "new\n", "made.txt": "new\n"})
}

// What acpx denies changes nothing, and the turn goes on to its end.
func TestInterop_AcpxDenies(t *testing.T) {
	t.Parallel()
	x := newAcpx(t)
	x.wantTurn(x.read(x.run(acpxDenied, "--deny-all", "exec", "refused")), "end_turn", "Then it stays.")
	x.wantFiles(map[string]string{"a.txt": "old\n", "made.txt": ""})
}

// Commands of one step are one question also here: allowed, both run, and denied, neither does.
func TestInterop_AcpxTogether(t *testing.T) {
	t.Parallel()
	for flag, test := range map[string]struct {
		code int
		text string
	}{"--approve-all": {0, "old\n"}, "--deny-all": {acpxDenied, ""}} {
		t.Run(flag, func(t *testing.T) {
			x := newAcpx(t)
			out := x.run(test.code, flag, "exec", "two")
			x.wantTurn(x.read(out), "end_turn", "Two were made.")
			x.wantFiles(map[string]string{"a.txt": "old\n", "one.txt": test.text, "made.txt": test.text})
			if asked := bytes.Count(out, []byte(`"method":"session/request_permission"`)); asked != 1 {
				t.Errorf("%d questions, want 1", asked)
			}
		})
	}
}

// A session of several prompts: each is of the same session, one is cancelled and leaves no
// process, and the next is answered.
func TestInterop_AcpxSession(t *testing.T) {
	t.Parallel()
	x := newAcpx(t)
	x.run(0, "sessions", "new")
	x.closeAtEnd()
	first := x.read(x.run(0, "--approve-all", "prompt", "repair"))
	x.wantTurn(first, "end_turn", "All is done.")
	second := x.read(x.run(0, "--approve-all", "prompt", "again"))
	x.wantTurn(second, "end_turn", "A second answer.")
	if first.session == "" || first.session != second.session {
		t.Errorf("the prompts were of the sessions %q and %q", first.session, second.session)
	}
	x.cancelLong()
	x.wantTurn(x.read(x.run(0, "--approve-all", "prompt", "again")), "end_turn", "A second answer.")
	if list := x.run(0, "sessions", "list", "--local"); !strings.Contains(string(list), x.project) {
		t.Errorf("the sessions are %s", list)
	}
}

// closeAtEnd ends the process that keeps the agent between prompts, also after a failure.
func (x *acpx) closeAtEnd() {
	x.Cleanup(func() {
		if out, err := x.command(context.Background(), "sessions", "close").CombinedOutput(); err != nil {
			x.Errorf("acpx sessions close: %v\n%s", err, out)
		}
	})
}

// cancelLong cancels a turn whose command runs.
func (x *acpx) cancelLong() {
	x.Helper()
	ctx, stop := context.WithTimeout(x.Context(), 30*time.Second)
	defer stop()
	long := x.command(ctx, "--approve-all", "prompt", "long")
	var out, stderr bytes.Buffer
	long.Stdout, long.Stderr = &out, &stderr
	if err := long.Start(); err != nil {
		x.Fatal(err)
	}
	pid, started := x.awaitPID(ctx)
	if !started {
		_ = long.Wait() // the deadline ends it
		x.Fatalf("the command did not start\n%s\n%s", stderr.Bytes(), out.Bytes())
	}
	x.run(0, "cancel")
	_ = long.Wait() // its exit code after a cancel is its own affair
	if log := x.read(out.Bytes()); log.stop != "cancelled" {
		x.Errorf("the cancelled turn ended with %q", log.stop)
	}
	// The number alone may belong to another process by now.
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(line), "echo waiting") {
		x.Errorf("the cancelled command %d still runs: %q", pid, line)
	}
}

// awaitPID waits until the command has written its process id.
func (x *acpx) awaitPID(ctx context.Context) (pid int, started bool) {
	x.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		text, _ := os.ReadFile(filepath.Join(x.project, "pid"))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && strings.HasSuffix(string(text), "\n") {
			return pid, true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, false
		}
	}
}
