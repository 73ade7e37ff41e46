package sources

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
)

// startingServer reaches for its first argument before it answers anything, and when it is called for
// its second, twice.
const startingServer = `begin() { curl -sS http://$first/ >/dev/null 2>&1; }
called() {
  said="other: $(curl -sS http://$second/ 2>&1) $(curl -sS http://$second/ 2>&1)"
  answer "{\"content\":[{\"type\":\"text\",\"text\":\"$(printf %s "$said" | tr -d '"\\' | tr '\n' ' ')\"}]}"
}
first=$1 second=$2
`

// hostAsked answers each question about a host as answers say, by the host, and allows all else.
type hostAsked struct {
	answers map[string]string

	mu    sync.Mutex
	texts []string // of the questions about hosts
}

func (h *hostAsked) permission(p *acptest.Permission) {
	title, _ := p.Get("toolCall.title").(string)
	for host, kind := range h.answers {
		if strings.HasPrefix(title, "Connect to "+host+" for the MCP server ") {
			h.mu.Lock()
			h.texts = append(h.texts, title)
			h.mu.Unlock()
			p.Choose(kind)
			return
		}
	}
	p.Choose("allow_once")
}

func (h *hostAsked) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.texts)
}

// The user is asked about each host that a server reaches for, once, also when it starts before any turn; a recording of that replays. Where hosts cannot be told apart the server has the whole
// network, and the user is told; without a user it has none (R124, L1).
func TestMCP_AskedHosts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		testreq.Skip(t, "curl is not installed")
	}
	const everyone, entry, ofProject = "mcp", "entry", "project"
	for _, tt := range testreq.Pick(4, []struct {
		name, level, where string
		answer             string // about the second host
		told               string // by the tool
		asked              int
		first, second      int32 // visits
		status             string
	}{
		{"allowed", "bubblewrap", entry, "allow_once", "other: the page the page", 2, 1, 2, ""},
		{"allowed for the session", "bubblewrap", entry, "allow_always", "other: the page the page", 2, 1, 2, ""},
		{"rejected", "bubblewrap", entry, "reject_once", "the user does not allow it", 2, 1, 0, "add `\"SECOND\"` to `network` of its entry"},
		{"by the agent's own namespaces", "namespaces", entry, "allow_once", "other: the page the page", 2, 1, 2, ""},
		{"for all servers", "bubblewrap", everyone, "allow_once", "other: the page the page", 2, 1, 2, ""},
		{"of a project", "bubblewrap", ofProject, "allow_once", "other: the page the page", 2, 1, 2, ""},
		{"without namespaces", "landlock", entry, "reject_once", "other: the page the page", 0, 1, 2, "it has the whole network, for the sandbox (landlock) cannot tell hosts apart"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first, cameFirst := website(t)
			second, cameSecond := website(t)
			dir, project := t.TempDir(), t.TempDir()
			script := filepath.Join(dir, "server.sh")
			if err := os.WriteFile(script, fmt.Appendf(nil, faultyServer, startingServer), 0o600); err != nil {
				t.Fatal(err)
			}
			server := fmt.Sprintf(`{"t": {"command": ["bash", %q, %q, %q], "network": "ask"}}`, script, first, second)
			servers := fmt.Sprintf(`"servers": %s`, server)
			switch tt.where {
			case everyone:
				servers = `"network": "ask", ` + strings.Replace(servers, `, "network": "ask"`, "", 1)
			case ofProject:
				text := fmt.Sprintf(`{"mcp": {%s}}`, strings.Replace(servers, `, "network": "ask"`, "", 1))
				if err := os.MkdirAll(filepath.Join(project, ".acp-agent"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(project, ".acp-agent", "config.jsonc"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				servers = ""
			}
			config := testfile.Config(t, `{"sandbox": {"level": %q}, "roots": {"read": [%q]}, "mcp": {%s}}`, tt.level, dir, servers)
			model := `{"when": "^hello$", "say": "Hello."}` + "\n" + `{"when": "^call$", "call": [{"name": "mcp__t__x", "args": {}}]}` + "\n" + `{"say": "${last_result}"}` + "\n"
			user := &hostAsked{answers: map[string]string{first: "allow_once", second: tt.answer}}
			file := filepath.Join(t.TempDir(), "recording.jsonl")
			agent := acptest.Start(t, acptest.Options{Model: model, Env: []string{config}, Permission: user.permission, Args: []string{"--record", file}})
			agent.Initialize("")
			session := agent.NewSession(project)
			if tt.where == ofProject {
				say(session, "/trust")
			}
			say(session, "hello")
			if text := say(session, "/mcp"); strings.Contains(text, "cannot be confined") {
				testreq.Skip(t, text)
			}
			awaitReady(t, session)
			text := say(session, "call")
			if !strings.Contains(text, tt.told) {
				t.Errorf("the tool said %s, want %q", text, tt.told)
			}
			text = say(session, "/mcp")
			if want := strings.ReplaceAll(tt.status, "SECOND", second); !strings.Contains(text, want) {
				t.Errorf("/mcp says %s, want %q", text, want)
			}
			if user.count() != tt.asked {
				t.Errorf("asked %q, want %d questions", user.texts, tt.asked)
			}
			if cameFirst.Load() != tt.first || cameSecond.Load() != tt.second {
				t.Errorf("%d visits of the first host and %d of the second, want %d and %d", cameFirst.Load(), cameSecond.Load(), tt.first, tt.second)
			}
			agent.Close()
			if out, code := agenttest.Replay(t, file); code != 0 || !strings.Contains(out, "no difference") {
				t.Errorf("replay: exit code %d: %s", code, out)
			}
			if cameFirst.Load() != tt.first || cameSecond.Load() != tt.second {
				t.Error("the replay reached a host")
			}
		})
	}
}

// awaitReady waits until the server is there.
func awaitReady(t *testing.T, session *acptest.Session) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) { // the user asks again
		text := say(session, "/mcp")
		if strings.Contains(text, "`t`: ready") {
			return
		}
		if time.Since(began) > acptest.Slack(20*time.Second) {
			t.Fatalf("the server is not ready: %s", text)
		}
	}
}

// What the user allowed for a session can be kept for the project. It is listed with the server, and
// counts in later sessions for this server as it is (R152, M1).
func TestMCP_AskedHostsKept(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		testreq.Skip(t, "curl is not installed")
	}
	site, came := website(t)
	dir, project, home := t.TempDir(), t.TempDir(), t.TempDir()
	script := filepath.Join(dir, "server.sh")
	if err := os.WriteFile(script, fmt.Appendf(nil, faultyServer, startingServer), 0o600); err != nil {
		t.Fatal(err)
	}
	user := &hostAsked{answers: map[string]string{site: "allow_always"}}
	open := func(arg string) *acptest.Session {
		config := testfile.Config(t, `{"sandbox": {"level": "bubblewrap"}, "roots": {"read": [%q]}, "mcp": {"servers": {"t": {"command": ["bash", %q, %q, %q], "network": "ask"}}}}`,
			dir, script, site, arg)
		agent := acptest.Start(t, acptest.Options{Home: home, Model: `{"say": "Hello.", "repeat": -1}`, Env: []string{config}, Permission: user.permission})
		agent.Initialize("")
		session := agent.NewSession(project)
		say(session, "hello")
		awaitReady(t, session)
		return session
	}
	session := open("same")
	want := "network(" + site + ")` for the MCP server t"
	tells(t, session, "/permissions", want)
	tells(t, session, "/permissions keep", "Kept for this project: allow `"+want)
	session = open("same")
	tells(t, session, "/permissions", want)
	if user.count() != 1 || came.Load() != 2 {
		t.Errorf("asked %d times for %d visits, want 1 and 2", user.count(), came.Load())
	}
	open("changed")
	if user.count() != 2 || came.Load() != 3 {
		t.Errorf("after a change of the server asked %d times for %d visits, want 2 and 3", user.count(), came.Load())
	}
}
