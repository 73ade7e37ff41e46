package sources

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
)

// reachingServer is a server whose tool says what came of three ways out: the proxy to a first and
// to a second host, and a connection to the second that passes the proxy by. Its argument ends it, too.
const reachingServer = `hosts=("$@")
called() {
  set -- "${hosts[@]}"
  said="listed: $(curl -sS http://$1/ 2>&1); other: $(curl -sS http://$2/ 2>&1); beside: $( (exec 3<>/dev/tcp/${2/://}) 2>/dev/null && echo open || echo closed)"
  answer "{\"content\":[{\"type\":\"text\",\"text\":\"$(printf %s "$said" | tr -d '"\\' | tr '\n' ' ')\"}]}"
  case $line in *'"end"'*) exit 1 ;; esac
}
`

// website is a web server that counts its visits.
func website(t *testing.T) (pair string, came *atomic.Int32) {
	t.Helper()
	came = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		fmt.Fprint(w, "the page")
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), came
}

// A server whose entry lists hosts reaches those, as the agent judges them, and has no other way
// out: also after it has crashed, and where commands have the whole network. Where hosts cannot be
// told apart it has no network, and without a sandbox it does not start (R124, L1).
func TestMCP_ListedHosts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		testreq.Skip(t, "curl is not installed")
	}
	for _, tt := range []struct {
		name, level, rules string
		open               bool
		told               []string // by the tool
		status             []string // in /mcp
		hits               int32    // of the listed host
	}{
		{
			"by host", "bubblewrap", `{}`, false,
			[]string{"listed: the page;", "the network is closed for OTHER: it is not among the hosts that its entry lists", "beside: closed"},
			[]string{"was closed to it for `OTHER`", "add `\"OTHER\"` to `network` of its entry"},
			2,
		},
		{"by the agent's own namespaces", "namespaces", `{}`, false, []string{"listed: the page;", "closed for OTHER", "beside: closed"}, nil, 2},
		{"where commands have the network", "bubblewrap", `{}`, true, []string{"listed: the page;", "closed for OTHER", "beside: closed"}, nil, 2},
		{
			"a host that the user denies", "bubblewrap", `{"deny": ["network(LISTED)"]}`, false,
			[]string{"listed: acp-agent: the network is closed for LISTED", "beside: closed"},
			[]string{"was closed to it for `LISTED`"},
			0,
		},
		{"without namespaces", "landlock", `{}`, false, []string{"beside: closed"}, []string{"it has no network: the sandbox (landlock) cannot tell hosts apart here"}, 0},
		{"without a sandbox", "none", `{}`, false, nil, []string{"failed", "no sandbox is here that could close the rest"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			listed, came := website(t)
			other, never := website(t)
			named := strings.NewReplacer("LISTED", listed, "OTHER", other)
			script := filepath.Join(t.TempDir(), "server.sh")
			if err := os.WriteFile(script, []byte(fmt.Sprintf(faultyServer, reachingServer)), 0o600); err != nil {
				t.Fatal(err)
			}
			config := testfile.Config(t, `{"sandbox": {"level": %q, "network": %v}, "rules": %s, "mcp": {"servers": {"t": {"command": ["bash", %q, %q, %q], "network": [%q], "trust": "allow"}}}}`,
				tt.level, tt.open, named.Replace(tt.rules), script, listed, other, listed)
			model := ""
			for prompt, args := range map[string]string{"end": `{"end": "end"}`, "call": `{}`} {
				model += fmt.Sprintf(`{"when": "^%s$", "call": [{"name": "mcp__t__x", "args": %s}]}`+"\n"+`{"say": "${last_result}"}`+"\n", prompt, args)
			}
			agent := acptest.Start(t, acptest.Options{Model: model, Env: append(quick, config), Permission: acptest.Answer("allow_once")})
			agent.Initialize("")
			session := agent.NewSession(t.TempDir())
			if text := say(session, "/mcp"); strings.Contains(text, "cannot be confined") {
				testreq.Skip(t, text)
			}
			if tt.told != nil {
				say(session, "end")
				awaitRestart(t, session)
				text := say(session, "call")
				for _, part := range tt.told {
					if !strings.Contains(text, named.Replace(part)) {
						t.Errorf("the tool said %s, want %q", text, named.Replace(part))
					}
				}
			}
			text := say(session, "/mcp")
			for _, part := range tt.status {
				if !strings.Contains(text, named.Replace(part)) {
					t.Errorf("/mcp says %s, want %q", text, named.Replace(part))
				}
			}
			if came.Load() != tt.hits || never.Load() != 0 {
				t.Errorf("%d visits of the listed host and %d of the other, want %d and 0", came.Load(), never.Load(), tt.hits)
			}
		})
	}
}

// awaitRestart waits until the server is there again: its last error outlives that.
func awaitRestart(t *testing.T, session *acptest.Session) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) { // the user asks again
		text := say(session, "/mcp")
		if strings.Contains(text, "`t`: ready") && strings.Contains(text, "last error: `it ended`") {
			return
		}
		if time.Since(began) > acptest.Slack(20*time.Second) {
			t.Fatalf("the server did not come back: %s", text)
		}
	}
}
