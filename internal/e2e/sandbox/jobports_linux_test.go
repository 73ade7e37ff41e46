package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/audit"
	"acp-agent/internal/netns"
	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
)

// needServers ends the test where commands have no network namespace of the session's, or there is
// no server to run in it.
func needServers(t *testing.T) {
	t.Helper()
	needSandbox(t, sandbox.Bubblewrap)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	space, err := netns.Start(self, nil)
	if err != nil {
		testreq.Skip(t, err.Error())
	}
	space.Close()
	for _, program := range []string{"python3", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			testreq.Skip(t, program+" is not installed")
		}
	}
}

// serve opens a session with a server in the background that is bound to an address, on port 8918 of the
// sandbox.
func serve(t *testing.T, address string, killed bool, more ...string) *acptest.Session {
	t.Helper()
	lines := append([]string{
		calls(background("echo the page > page.txt; exec python3 -u -m http.server 8918 --bind " + address)),
		`{"say": "It starts."}`,
		`{"when": "^and$", "call": [{"name": "job_output", "args": {"job": "job_1"}}]}`,
		`{"expect": {"last_result": "<listens>port 8918, for other commands; the user reaches it once they have typed"}, "call": [{"name": "job_list", "args": {}}]}`,
		`{"expect": {"last_result": "port 8918, for other commands"}, "say": "It serves."}`,
	}, more...)
	s := startJobs(t, sandbox.Bubblewrap, killed, 2, lines...)
	s.Prompt("serve").Ends("end_turn")
	s.Expect("the port", showsPort(`"ports":[8918]`, "It listens on port 8918 in the sandbox; `/jobs forward 8918` opens it on this machine."))
	s.Prompt("and").Ends("end_turn")
	s.Skip()
	return s
}

// showsPort fits the update after which both the result and the card of a call have the port. One that comes while
// output is streamed shows it on the card first.
func showsPort(data, content string) func(*acptest.Message) bool {
	inData, onCard := acptest.Update("tool_call_update", "rawOutput.data", data), acptest.Update("tool_call_update", "content", content)
	var listed, shown bool
	return func(m *acptest.Message) bool {
		listed, shown = listed || inData(m), shown || onCard(m)
		return listed && shown
	}
}

// typed is the answer of the agent to a slash command.
func typed(t *testing.T, s *acptest.Session, command string) string {
	t.Helper()
	before := len(s.Text())
	s.Prompt(command).Ends("end_turn")
	return s.Text()[before:]
}

var openAt = regexp.MustCompile(`is open at 127\.0\.0\.1:(\d+) on this machine`)

// forward opens the port on the machine, and returns which port that is.
func forward(t *testing.T, s *acptest.Session, command string) int {
	t.Helper()
	answer := typed(t, s, command)
	found := openAt.FindStringSubmatch(answer)
	if found == nil {
		t.Fatalf("%s: %s", command, answer)
	}
	port, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func fetch(port int) (string, error) {
	client := http.Client{Timeout: upWait, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/page.txt", port))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// awaitClosed waits until nothing listens on a port of the machine any more.
func awaitClosed(t *testing.T, what string, port int) {
	t.Helper()
	ended := time.Now()
	for {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			conn.Close()
		}
		if took := time.Since(ended); took > acptest.Slack(5*time.Second) {
			t.Fatalf("%s: the port is open %v later: %v", what, took, err)
		}
		time.Sleep(lookAgain)
	}
}

// TestJobs_Forward: a dev server in the background is requested by the next command, its port is shown
// in its card, and the user opens it on the machine, which nothing else does. It is closed by the
// user's word and with the job.
func TestJobs_Forward(t *testing.T) {
	needServers(t)
	t.Parallel()
	s := serve(t, "127.0.0.1", false,
		`{"when": "^and the model", "call": [{"name": "bash", "args": {"cmd": "curl -sS http://127.0.0.1:8918/page.txt"}}]}`,
		`{"expect": {"last_result": "the page"}, "call": [{"name": "job_list", "args": {}}]}`,
		`{"expect": {"last_result": "the user has opened it as 127.0.0.1:"}, "say": "I see."}`)
	if text, err := fetch(8918); err == nil {
		t.Errorf("before it is asked for, the machine reaches %q", text)
	}
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := taken.Addr().(*net.TCPAddr).Port
	for command, want := range map[string]string{
		fmt.Sprintf("/jobs forward 8918 %d", busy): fmt.Sprintf("port %d of this machine cannot be opened: another program has it.\n`/jobs forward 8918 0` takes a port that is free", busy),
		"/jobs forward 1":                          "no command in the background listens on port 1; there are [8918]",
		"/jobs forward 0":                          "`0` is not a port: it is a number from 1 to 65535",
		"/jobs forward x 0":                        "`x` is not a port",
		"/jobs forward 8918 65536":                 "`65536` is not a port: it is a number from 0 to 65535",
		"/jobs forward stop 8918":                  "Port 8918 is not open on this machine",
	} {
		if answer := typed(t, s, command); !strings.Contains(answer, want) {
			t.Errorf("%s: %q lacks %q", command, answer, want)
		}
	}
	first := forward(t, s, "/jobs forward 8918 0")
	s.Expect("the open port", acptest.Update("tool_call_update", "content", fmt.Sprintf("open on this machine at 127.0.0.1:%d", first)))
	for range 3 {
		if text, err := fetch(first); err != nil || text != "the page\n" {
			t.Errorf("the machine reads %q, %v", text, err)
		}
	}
	if answer := typed(t, s, "/jobs forward 8918 0"); !strings.Contains(answer, fmt.Sprintf("is open already, at 127.0.0.1:%d", first)) {
		t.Errorf("a second time: %s", answer)
	}
	s.Prompt("and the model?").Ends("end_turn")
	if text := s.Text(); !strings.HasSuffix(text, "I see.") {
		t.Errorf("the model: %s", text)
	}
	if answer := typed(t, s, "/jobs forward stop 8918"); !strings.Contains(answer, "is closed on this machine") {
		t.Errorf("the end: %s", answer)
	}
	awaitClosed(t, "/jobs forward stop", first)
	second := forward(t, s, fmt.Sprintf("/jobs forward 8918 %d", first))
	if second != first {
		t.Errorf("opened as %d, not as %d", second, first)
	}
	idle, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", second))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if answer := typed(t, s, "/jobs stop 1"); !strings.Contains(answer, "Stopped 1 job") {
		t.Errorf("the end: %s", answer)
	}
	awaitClosed(t, "/jobs stop", second)
	_ = idle.SetReadDeadline(time.Now().Add(acptest.Slack(5 * time.Second)))
	if _, err := idle.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection is left: %v", err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", first)
	want := []string{
		"opened " + address + " by person: /jobs forward", "closed " + address + " by person: /jobs forward stop",
		"opened " + address + " by person: /jobs forward", "closed " + address + " by the end of the job",
	}
	said := auditedPorts(t, s)
	for until := time.Now().Add(upWait); len(said) < len(want) && time.Now().Before(until); said = auditedPorts(t, s) {
		time.Sleep(lookAgain) // the last record is written after the port is closed
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("the audit (-want +got):\n%s", diff)
	}
}

// auditedPorts is what the audit says of the ports of jobs that were opened, and of their end.
func auditedPorts(t *testing.T, s *acptest.Session) (said []string) {
	t.Helper()
	dir := filepath.Join(s.Home, ".local/share/acp-agent/audit")
	err := audit.Read(dir, s.ID, func(r audit.Record, line []byte) error {
		if r.Event == audit.Opened || r.Event == audit.Closed {
			said = append(said, fmt.Sprintf("%s %s by %s", r.Event, strings.Join(r.Touches, " "), r.By))
			if r.Call == "" || r.Reason != "port 8918 of job_1" {
				t.Errorf("the record is %s", line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// TestJobs_ForwardEnds: the port is closed with the session, with the agent, and when the agent is
// killed. A server that is bound to IPv6 alone is reached as well.
func TestJobs_ForwardEnds(t *testing.T) {
	needServers(t)
	t.Parallel()
	for _, end := range ends {
		s := serve(t, "::1", end.name == "kill -9")
		port := forward(t, s, "/jobs forward 8918 0")
		if text, err := fetch(port); err != nil || text != "the page\n" {
			t.Errorf("the machine reads %q, %v", text, err)
		}
		if err := end.end(s); err != nil {
			t.Fatal(err)
		}
		awaitClosed(t, end.name, port)
		if said := auditedPorts(t, s); end.name != "kill -9" && len(said) != 2 {
			t.Errorf("%s: the audit says %q", end.name, said)
		}
	}
}

// TestJobs_PortOutside: of a job without a sandbox the card shows the machine's own port, which
// needs nothing to be reached.
func TestJobs_PortOutside(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		testreq.Skip(t, "python3 is not installed")
	}
	s := startJobs(t, sandbox.None, false, 2,
		calls(background("exec python3 -u -m http.server 0 --bind 127.0.0.1")),
		`{"say": "It starts."}`,
		`{"when": "^and$", "call": [{"name": "job_output", "args": {"job": "job_1"}}]}`,
		`{"expect": {"last_result": "of this machine</listens>"}, "say": "It serves."}`)
	s.Prompt("serve").Ends("end_turn")
	s.Expect("the port", showsPort(`"ports":[`, "of this machine."))
	s.Prompt("and").Ends("end_turn")
	shown := regexp.MustCompile(`listens on port (\d+) of this machine`).FindStringSubmatch(typed(t, s, "/jobs"))
	if shown == nil {
		t.Fatal("/jobs does not show the port")
	}
	want := fmt.Sprintf("port %s of job_1 needs no forwarding: it is a port of this machine as it is", shown[1])
	if answer := typed(t, s, "/jobs forward "+shown[1]+" 0"); !strings.Contains(answer, want) {
		t.Errorf("%q lacks %q", answer, want)
	}
}
