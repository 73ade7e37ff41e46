package permissions

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
)

// canary is a key that must not turn up anywhere.
const canary = "sk-canary-8f1d2c7ab34e9065"

// TestRobust_Key is pain 39 and X1: the key is in no line, log or file, not when
// a command prints its environment, not when the server repeats it in an error,
// and not at the most talkative log level.
func TestRobust_Key(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is for a POSIX shell")
	}
	call := func(cmd string) modeltest.Step {
		return modeltest.Step{Calls: []modeltest.Call{{Name: "bash", Arguments: `{"cmd":"` + cmd + `"}`}}}
	}
	refusal := `{"error":{"message":"Incorrect API key provided: ` + canary + `."}}`
	server := modeltest.New(
		t,
		call(`env; printenv OPENAI_API_KEY; export -p; echo PATH=$PATH`),
		call(`cat /proc/self/environ`),
		call(`cat /proc/$PPID/environ; f=environ; tr a a </proc/self/$f`),
		modeltest.Step{Text: "Looked."},
		modeltest.Step{Status: 401, Body: refusal},
		modeltest.Step{Status: 500, Body: refusal},
		modeltest.Step{Status: 400, Body: refusal},
	)
	agent := acptest.Start(t, acptest.Options{
		Env: []string{
			"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake", "OPENAI_API_KEY=" + canary,
			"HARMLESS_NAME=" + canary, "AUTH_HEADER=Bearer " + canary, "ACP_AGENT_LOG=debug",
		},
		Permission: acptest.Answer("allow_once"),
	})
	dir := t.TempDir()
	agent.Initialize(`{"_meta":{"terminal_output":true}}`)
	session := agent.NewSession(dir)
	session.Prompt("show the environment").Ends("end_turn")
	agent.Expect("the environment", acptest.Update("tool_call_update", "_meta.terminal_output.data", "PATH="))
	session.Prompt("again").Fails(-32000, "")
	session.Prompt("again").Fails(-32603, "")
	session.Prompt("/status").Ends("end_turn")
	agent.Close()

	if sent := server.Requests()[0].Header.Get("Authorization"); sent != "Bearer "+canary {
		t.Fatalf("the server was sent %q: the key was never in use", sent)
	}
	for _, request := range server.Requests() {
		if strings.Contains(string(request.Body), canary) {
			t.Errorf("the key was sent to the model: %.300s", request.Body)
		}
	}
	for _, line := range agent.Lines() {
		if line.FromAgent && strings.Contains(line.Raw, canary) {
			t.Errorf("the key was sent to the client: %.300s", line.Raw)
		}
	}
	if strings.Contains(agent.Stderr(), canary) {
		t.Errorf("the key is in the log: %.1000s", agent.Stderr())
	}
	for _, root := range []string{agent.Home, dir} {
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), canary) {
				t.Errorf("the key is in the file %s", path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRobust_KeyElsewhere: a server that sends the agent to another host does not get
// it to take the key there.
func TestRobust_KeyElsewhere(t *testing.T) {
	t.Parallel()
	thief := modeltest.New(t, modeltest.Step{Text: "Thanks.", Repeat: -1})
	away := strings.Replace(thief.URL, "127.0.0.1", "localhost", 1) + "/chat/completions"
	server := modeltest.New(t, modeltest.Step{Status: 307, Header: map[string]string{"Location": away}, Repeat: -1})
	agent := acptest.Start(t, acptest.Options{
		Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake", "OPENAI_API_KEY=" + canary},
	})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	session.Prompt("hello").Wait()
	for _, request := range thief.Requests() {
		for name, values := range request.Header {
			if strings.Contains(strings.Join(values, " "), canary) {
				t.Errorf("the key went to another host in %s", name)
			}
		}
	}
}
