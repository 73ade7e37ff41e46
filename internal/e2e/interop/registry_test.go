//go:build unix

package interop

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/schematest"
)

// The rules of the registry of agents that can be shown without a listing, in our words;
// source: agentclientprotocol/registry, 3de1678, .github/workflows/client.py and
// verify_agents.py, AUTHENTICATION.md, agent.schema.json.
//
//   - Started with an empty home and no key, the agent answers initialize. The first line on
//     stdout is that answer, and it is a result.
//   - It offers at least one method that the agent handles (which one without a type is) or
//     that runs in a terminal, by its type or by a key of its _meta.
//   - Started with an empty stdin it exits with 0 or waits.
//   - Its version is three numbers, and its name an id of small letters.
//
// The check itself downloads a release and needs the registry's own scripts, so it is not
// run here.
const registryInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,` +
	`"clientInfo":{"name":"ACP Registry Validator","version":"1.0.0"},` +
	`"clientCapabilities":{"terminal":true,"fs":{"readTextFile":true,"writeTextFile":true},` +
	`"_meta":{"terminal_output":true,"terminal-auth":true}}}}` + "\n"

// registryWait is how long an agent may take that is asked, or that is given nothing.
const registryWait = 10 * time.Second

// registryAgent is the binary as the check starts it.
func registryAgent(t *testing.T, binary string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	home := t.TempDir()
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8"}
	return cmd
}

// registryMethod is a way to authenticate as the check reads it.
type registryMethod struct {
	ID, Name, Type string
	Meta           map[string]json.RawMessage `json:"_meta"`
}

// kind is the type that the check takes a method for.
func (m registryMethod) kind() string {
	switch {
	case m.Type != "":
		return m.Type
	case m.Meta["terminal-auth"] != nil:
		return "terminal"
	}
	return "agent"
}

func TestInterop_RegistryAuth(t *testing.T) {
	t.Parallel()
	agent := registryAgent(t, needInterop(t))
	stdin, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(registryWait, func() { _ = agent.Process.Kill() }).Stop()
	if _, err := io.WriteString(stdin, registryInitialize); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the first line: %v", err)
	}
	validator := schematest.Open(t)
	if err := errors.Join(validator.Message(schematest.ToAgent, []byte(registryInitialize)), validator.Message(schematest.ToClient, []byte(line))); err != nil {
		t.Error(err)
	}
	var answer struct {
		ID     int
		Error  json.RawMessage
		Result struct {
			AgentInfo   struct{ Name, Version string }
			AuthMethods []registryMethod
		}
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.ID != 1 || answer.Error != nil {
		t.Fatalf("the first line is no answer to initialize: %v: %s", err, line)
	}
	kinds := map[string]string{}
	for _, m := range answer.Result.AuthMethods {
		kinds[m.ID] = m.kind()
		if m.Type == "terminal" {
			t.Errorf("%s has the type terminal, which the client did not offer", m.ID)
		}
		if m.Name == "" {
			t.Errorf("%s has no name", m.ID)
		}
	}
	if kinds["api-key"] != "agent" || kinds["login"] != "terminal" {
		t.Errorf("the methods are %v", kinds)
	}
	if info := answer.Result.AgentInfo; !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(info.Name) || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(info.Version) {
		t.Errorf("the agent names itself %+v", info)
	}
	registryLogin(t, answer.Result.AuthMethods)
	stdin.Close()
	if err := agent.Wait(); err != nil {
		t.Errorf("at the end of stdin: %v", err)
	}
}

// registryLogin runs the command of the login as a client would, without a terminal: it is
// there, and says what is missing.
func registryLogin(t *testing.T, methods []registryMethod) {
	t.Helper()
	for _, m := range methods {
		raw, offered := m.Meta["terminal-auth"]
		if !offered {
			continue
		}
		var run struct {
			Label, Command string
			Args           []string
			Env            map[string]string
		}
		if err := json.Unmarshal(raw, &run); err != nil || run.Label == "" || !filepath.IsAbs(run.Command) {
			t.Fatalf("the command of %s is %s: %v", m.ID, raw, err)
		}
		login := registryAgent(t, run.Command)
		login.Args = append(login.Args, run.Args...)
		out, err := login.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), "stdin is not a terminal") {
			t.Errorf("%q: %v\n%s", login.Args, err, out)
		}
	}
}

func TestInterop_RegistryLaunch(t *testing.T) {
	t.Parallel()
	agent := registryAgent(t, needInterop(t))
	var said strings.Builder
	agent.Stdout = &said
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(registryWait, func() { _ = agent.Process.Signal(os.Interrupt) }).Stop()
	if err := agent.Wait(); err != nil || said.Len() > 0 {
		t.Errorf("with nothing on stdin: %v, on stdout %q", err, said.String())
	}
}
