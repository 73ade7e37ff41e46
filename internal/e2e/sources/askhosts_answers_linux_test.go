package sources

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
)

// What the user rejected about a host of a server is listed, and can be taken back: the next connection is asked
// about again. The audit has each decision, by whom and for how long (R124, R129).
func TestMCP_AskedHostsTakenBack(t *testing.T) {
	t.Parallel()
	first, _ := website(t)
	second, visited := website(t)
	config := askingServer(t, "", first, second)
	user := &hostAsked{answers: map[string]string{first: "allow_once", second: "reject_once"}}
	call := `{"when": "^call$", "call": [{"name": "mcp__t__x", "args": {}}]}` + "\n" + `{"say": "${last_result}"}` + "\n"
	model := `{"when": "^hello$", "say": "Hello."}` + "\n" + strings.Repeat(call, 3)
	home := t.TempDir()
	agent := acptest.Start(t, acptest.Options{Model: model, Home: home, Env: []string{config}, Permission: user.permission})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	say(session, "hello")
	awaitReady(t, session)
	tells(t, session, "call", "the user does not allow it")
	tells(t, session, "call", "the user does not allow it")
	if user.count() != 2 || visited.Load() != 0 {
		t.Errorf("asked %q, %d visits", user.texts, visited.Load())
	}
	rule := "deny `network(" + second + ")` for the MCP server t"
	tells(t, session, "/permissions", "1. "+rule+": session, your answer in this session")
	tells(t, session, "/mcp", "`/permissions` takes that back")
	tells(t, session, "/permissions keep 1", "Nothing was kept: you rejected")
	tells(t, session, "/permissions revoke 1", "Revoked: "+rule)
	tells(t, session, "/permissions revoke 1", "is no longer in force")
	user.mu.Lock()
	user.answers[second] = "allow_always"
	user.mu.Unlock()
	tells(t, session, "call", "the page the page")
	if user.count() != 3 || visited.Load() != 2 {
		t.Errorf("after the answer was taken back asked %q, %d visits", user.texts, visited.Load())
	}
	agent.Close()
	records := ""
	files, _ := filepath.Glob(filepath.Join(home, ".local/share/acp-agent/audit/*.jsonl"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		records += string(data)
	}
	for _, want := range []string{
		first + `".*"verdict":"allow","by":"person: allow_once",.*"scope":"once"`,
		second + `".*"verdict":"deny","by":"person: reject_once","reason":"the user does not allow it","scope":"session"`,
		second + `".*"verdict":"allow","by":"person: allow_always",.*"scope":"session"`,
	} {
		if n := len(regexp.MustCompile(`"event":"reached","source":"mcp","server":"t",.*"touches":\["`+want).FindAllString(records, -1)); n != 1 {
			t.Errorf("%d records of %s in\n%s", n, want, strings.ReplaceAll(records, "\n", "\n\n"))
		}
	}
}
