package sources

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
)

// reachingProvider is an external provider whose tool says what came of the hosts of its arguments.
const reachingProvider = `import json, sys, urllib.request
def fetch(host):
    try:
        return urllib.request.urlopen("http://" + host + "/", timeout=20).read().decode()
    except Exception as e:
        return "%s %s" % (e, getattr(e, "fp", None) and e.fp.read().decode())
for line in sys.stdin:
    ask = json.loads(line)
    if "id" not in ask:
        continue
    result = {}
    if ask["method"] == "tools/list":
        result = {"tools": [{"name": "reach", "description": "reaches", "inputSchema": {"type": "object"}}]}
    if ask["method"] == "tools/execute":
        result = {"result": "listed: %s; other: %s" % tuple(fetch(h) for h in sys.argv[1:3])}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}), flush=True)
`

// takesPlace is a job that serves, to the session's commands, where a server of the machine has its port.
const takesPlace = `{"when": "^take its place$", "call": [{"name": "bash", "args": {"cmd": "python3 -m http.server PORT --bind 127.0.0.1", "background": true}}]}
{"say": "${last_result}"}
{"when": "^look$", "call": [{"name": "bash", "args": {"cmd": "for i in $(seq 100); do curl -sS --noproxy '*' http://127.0.0.1:PORT/ && break; sleep 0.1; done"}}]}
{"say": "${last_result}"}
`

// A provider whose entry lists hosts reaches those and no others, as an MCP server does. A listed address of the machine is
// the machine's, also where a command serves at the same one.
func TestProvider_ListedHosts(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		testreq.Skip(t, "python3 is not installed")
	}
	for _, tt := range []struct {
		level, told, status string
		hits                int32
	}{
		{"bubblewrap", "listed: the page; other: HTTP Error 403: Forbidden acp-agent: the network is closed for OTHER: it is not among the hosts that its entry lists", "add `\"OTHER\"` to `network` of its entry", 1},
		{"landlock", "other: <urlopen error", "it has no network: the sandbox (landlock) cannot tell hosts apart here", 0},
		{"none", "", "no sandbox is here that could close the rest", 0},
	} {
		t.Run(tt.level, func(t *testing.T) {
			t.Parallel()
			listed, came := website(t)
			other, never := website(t)
			named := strings.NewReplacer("LISTED", listed, "OTHER", other)
			script := filepath.Join(t.TempDir(), "provider.py")
			if err := os.WriteFile(script, []byte(reachingProvider), 0o600); err != nil {
				t.Fatal(err)
			}
			config := testfile.Config(t, `{"sandbox": {"level": %q}, "external": {"toolProviders": {"p": {"type": "stdio", "command": %q, "args": [%q, %q, %q], "network": [%q]}}}}`,
				tt.level, python, script, listed, other, listed)
			agent := acptest.Start(t, acptest.Options{
				Model: `{"when": "^call$", "call": [{"name": "tb__p__reach", "args": {}}]}` + "\n" + `{"say": "${last_result}"}` + "\n" +
					strings.ReplaceAll(takesPlace, "PORT", listed[strings.LastIndex(listed, ":")+1:]),
				Env: append(quick, config), Permission: acptest.Answer("allow_once"),
			})
			agent.Initialize("")
			session := agent.NewSession(t.TempDir())
			if text := say(session, "/providers"); strings.Contains(text, "cannot be confined") {
				testreq.Skip(t, text)
			}
			if tt.hits > 0 {
				if text := say(session, "take its place") + say(session, "look"); !strings.Contains(text, "Directory listing") {
					t.Errorf("the job does not serve: %s", text)
				}
			}
			if text := say(session, "call"); tt.told != "" && !strings.Contains(text, named.Replace(tt.told)) {
				t.Errorf("the tool said %s, want %q", text, named.Replace(tt.told))
			}
			if text := say(session, "/providers"); !strings.Contains(text, named.Replace(tt.status)) {
				t.Errorf("/providers says %s, want %q", text, named.Replace(tt.status))
			}
			if came.Load() != tt.hits || never.Load() != 0 {
				t.Errorf("%d visits of the listed host and %d of the other, want %d and 0", came.Load(), never.Load(), tt.hits)
			}
		})
	}
}

// The user is asked about each host that a script of a toolbox reaches for, unless the configuration opens the network
// to scripts.
func TestToolbox_AskedHosts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		testreq.Skip(t, "curl is not installed")
	}
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprint(open), func(t *testing.T) {
			t.Parallel()
			host, came := website(t)
			dir := t.TempDir()
			script := "#!/bin/bash\n[ \"$TOOLBOX_ACTION\" != describe ] || { echo name: reach; echo description: reaches; curl -sS http://" + host + "/ >&2; exit 0; }\ncurl -sS http://" + host + "/ 2>&1\n"
			if err := os.WriteFile(filepath.Join(dir, "reach"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			config := testfile.Config(t, `{"sandbox": {"level": "bubblewrap"}, "toolbox": {"dirs": [%q], "network": %v}}`, dir, open)
			var cards []string
			agent := acptest.Start(t, acptest.Options{
				Model: `{"when": "^call$", "call": [{"name": "tb__reach", "args": {}}]}` + "\n" + `{"say": "${last_result}"}` + "\n",
				Env:   append(quick, config),
				Permission: func(p *acptest.Permission) {
					cards = append(cards, fmt.Sprint(p.Get("params.toolCall.content")))
					p.Choose("allow_once")
				},
			})
			agent.Initialize("")
			session := agent.NewSession(t.TempDir())
			text := say(session, "call")
			if strings.Contains(text, "cannot be confined") {
				testreq.Skip(t, text)
			}
			if !strings.Contains(text, "the page") || came.Load() != 1 {
				t.Errorf("%d visits: %s", came.Load(), text)
			}
			said := strings.Join(cards, "\n")
			if asked := strings.Contains(said, "tb__reach reaches for "+host); asked == open || !open && !strings.Contains(said, "network by host") || open && !strings.Contains(said, "network on") {
				t.Errorf("the cards are %s", said)
			}
		})
	}
}
