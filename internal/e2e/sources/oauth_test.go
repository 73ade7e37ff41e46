package sources

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/mcptest"
)

// signInModel greets, and looks for tokens where they are.
const signInModel = `{"when": "^hello$", "say": "Hello."}
{"when": "^greet$", "call": [{"name": "tool_search", "args": {"query": "greets"}}]}
{"call": [{"name": "mcp__greeter__greet", "args": {}}]}
{"say": "So it goes."}
{"when": "^peek$", "call": [{"name": "bash", "args": {"command": "cat TOKENS/*; echo looked"}}, {"name": "glob", "args": {"filePattern": "TOKENS/*"}}, {"name": "read", "args": {"path": "TOKENS"}}, {"name": "grep", "args": {"pattern": "version", "path": "TOKENS"}}]}
{"say": "So I looked."}
`

// tokensDir is where the tokens lie below an agent's home.
func tokensDir(home string) string { return filepath.Join(home, "data", "acp-agent", "tokens") }

// signInAgent is an agent whose tokens lie in a file of its home.
func signInAgent(t *testing.T, home string) *acptest.Agent {
	t.Helper()
	return acptest.Start(t, acptest.Options{
		Home: home, Permission: acptest.Answer("allow_once"), Env: signInEnv(t, home),
		Model: strings.ReplaceAll(signInModel, "TOKENS", tokensDir(home)),
	})
}

func signInEnv(t *testing.T, home string) []string {
	t.Helper()
	path := filepath.Join(home, "config.jsonc")
	if err := os.WriteFile(path, []byte(`{"mcp": {"tokens": "file"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"ACP_AGENT_CONFIG=" + path, "XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config")}
}

func greeterSession(agent *acptest.Agent, dir, url string) *acptest.Session {
	return agent.OpenSession(map[string]any{"cwd": dir, "mcpServers": []any{
		map[string]any{"type": "http", "name": "greeter", "url": url, "headers": []any{}},
	}})
}

func elicitation(m *acptest.Message) bool { return m.Method == "elicitation/create" }

// answerTo answers a request of the agent's.
func answerTo(agent *acptest.Agent, m *acptest.Message, result string) {
	agent.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

// noToken holds that nothing of a token was said or logged.
func noToken(t *testing.T, agent *acptest.Agent) {
	t.Helper()
	for _, l := range agent.Lines() {
		if strings.Contains(l.Raw, mcptest.Canary) {
			t.Errorf("a token is shown: %s", l.Raw)
		}
	}
	if strings.Contains(agent.Stderr(), mcptest.Canary) {
		t.Errorf("a token is logged: %s", agent.Stderr())
	}
}

// peek has the model look for the tokens with its tools, to all of which the user says yes.
func peek(t *testing.T, session *acptest.Session, home string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(tokensDir(home), "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files are %q, %v", files, err)
	}
	session.Skip()
	from := len(session.Lines())
	session.Prompt("peek").Ends("end_turn")
	for _, l := range session.Lines()[from:] {
		if strings.Contains(l.Raw, filepath.Base(files[0])) || strings.Contains(l.Raw, `\"version\"`) || strings.Contains(l.Raw, "token_url") {
			t.Errorf("a tool found it: %s", l.Raw)
		}
	}
}

// TestMCP_SignIn is R88 and R92 over the wire: no one is asked unasked; /mcp login shows the
// address as the editor can, and the next agent finds the token, which is in a private file
// and in no output, also when the server sends it back.
func TestMCP_SignIn(t *testing.T) {
	t.Parallel()
	server, home, dir := mcptest.Start(t), t.TempDir(), t.TempDir()
	agent := signInAgent(t, home)
	agent.Initialize(`{"elicitation":{"url":{}},"session":{"notices":{}}}`)
	session := greeterSession(agent, dir, server.URL)
	session.Prompt("hello").Ends("end_turn")
	agent.Expect("the notice", func(m *acptest.Message) bool { return strings.Contains(string(m.Params), "run /mcp login greeter") })
	turn := session.Prompt("/mcp login greeter")
	asked := agent.Expect("the address", elicitation)
	address, _ := asked.Get("params.url").(string)
	message, _ := asked.Get("params.message").(string)
	host := strings.TrimSuffix(strings.TrimPrefix(server.URL, "http://"), "/mcp")
	if asked.Get("params.mode") != "url" || !strings.Contains(message, "greeter ("+host+")") || !strings.Contains(message, "sign in at "+host) {
		t.Errorf("the editor is asked %s", asked.Params)
	}
	answerTo(agent, asked, `{"action":"accept"}`)
	if status, err := server.Browse(t.Context(), address); err != nil || status != 200 {
		t.Fatalf("the browser came to %d, %v", status, err)
	}
	agent.Expect("that it is done", func(m *acptest.Message) bool {
		return m.Method == "elicitation/complete" && m.Get("params.elicitationId") == asked.Get("params.elicitationId")
	})
	agent.Expect("the answer", func(m *acptest.Message) bool {
		return strings.Contains(string(m.Params), "You are signed in to `greeter`. It has 1 tool")
	})
	turn.Ends("end_turn")
	session.Prompt("greet").Ends("end_turn")
	agent.Expect("the greeting", func(m *acptest.Message) bool {
		return strings.Contains(string(m.Params), "hello, you sent Bearer [redacted]")
	})
	peek(t, session, home)
	agent.Close()
	noToken(t, agent)

	next := signInAgent(t, home)
	next.Initialize("")
	session = greeterSession(next, dir, server.URL)
	session.Prompt("greet").Ends("end_turn")
	next.Expect("the greeting", func(m *acptest.Message) bool {
		return strings.Contains(string(m.Params), "hello, you sent Bearer [redacted]")
	})
	session.Prompt("/mcp logout greeter").Ends("end_turn")
	session.Prompt("/mcp").Ends("end_turn")
	next.Expect("the state", func(m *acptest.Message) bool { return strings.Contains(string(m.Params), "`greeter`: sign-in") })
	next.Close()
	noToken(t, next)
	if got := server.Counts(); got.Exchanged != 1 || got.Refreshed != 0 || got.Called != 2 {
		t.Errorf("the server counts %+v", got)
	}
}

// TestMCP_SignInElsewhere holds what happens where the editor shows no addresses, and when
// the user declines or cancels.
func TestMCP_SignInElsewhere(t *testing.T) {
	t.Parallel()
	server := mcptest.Start(t)
	for _, tt := range []struct {
		name, client string
		act          func(t *testing.T, s *acptest.Session)
		stop, text   string
	}{
		{"said in chat", "", func(t *testing.T, s *acptest.Session) {
			m := s.Expect("the address", func(m *acptest.Message) bool { return strings.Contains(string(m.Params), "/authorize?") })
			text, _ := m.Get("params.update.content.text").(string)
			_, rest, _ := strings.Cut(text, "<")
			address, _, _ := strings.Cut(rest, ">")
			if _, err := server.Browse(t.Context(), address); err != nil {
				t.Errorf("browse %q: %v", address, err)
			}
		}, "end_turn", "You are signed in to `greeter`"},
		{"declined", `{"elicitation":{"url":{}}}`, func(_ *testing.T, s *acptest.Session) {
			answerTo(s.Agent, s.Expect("the address", elicitation), `{"action":"decline"}`)
		}, "end_turn", "You are not signed in to `greeter`: you declined."},
		{"cancelled", `{"elicitation":{"url":{}}}`, func(_ *testing.T, s *acptest.Session) {
			m := s.Expect("the address", elicitation)
			s.Cancel()
			s.Expect("that the address is taken back", func(m *acptest.Message) bool { return m.Method == "$/cancel_request" })
			s.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32800,"message":"cancelled"}}`, m.ID))
		}, "cancelled", ""},
		{"cancelled after it was opened", `{"elicitation":{"url":{}}}`, func(_ *testing.T, s *acptest.Session) {
			answerTo(s.Agent, s.Expect("the address", elicitation), `{"action":"accept"}`)
			s.Cancel()
		}, "cancelled", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			agent := signInAgent(t, t.TempDir())
			agent.Initialize(tt.client)
			session := greeterSession(agent, t.TempDir(), server.URL)
			turn := session.Prompt("/mcp login greeter")
			tt.act(t, session)
			turn.Ends(tt.stop)
			if tt.text != "" {
				agent.Expect("the answer", func(m *acptest.Message) bool { return strings.Contains(string(m.Params), tt.text) })
			}
			agent.Close()
			noToken(t, agent)
		})
	}
}

// TestMCP_LoginCommand signs in and out from a terminal.
func TestMCP_LoginCommand(t *testing.T) {
	t.Parallel()
	server, home := mcptest.Start(t), t.TempDir()
	env := signInEnv(t, home)
	config := fmt.Sprintf(`{"mcp": {"tokens": "file", "servers": {"greeter": {"url": %q}}}}`, server.URL)
	if err := os.WriteFile(filepath.Join(home, "config.jsonc"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "--cwd", t.TempDir())...)
		cmd.Env = append(append(os.Environ(), acptest.EnvProgram+"=1", "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CACHE_HOME="+filepath.Join(home, "cache")), env...)
		return cmd
	}
	out, err := command("mcp", "--json").Output()
	if err == nil || !strings.Contains(string(out), `"state": "sign-in"`) {
		t.Fatalf("%s, %v", out, err)
	}
	if out, _ := command("mcp").Output(); !strings.Contains(string(out), "to sign in: acp-agent mcp login greeter") {
		t.Errorf("the table says %s", out)
	}
	var text, problems bytes.Buffer
	login := command("mcp", "login", "greeter")
	login.Stderr = &problems
	login.Stdout = &browsing{t: t, server: server, text: &text}
	if err := login.Run(); err != nil || !strings.Contains(text.String(), "You are signed in to greeter.") {
		t.Fatalf("%s%s, %v", text.String(), problems.String(), err)
	}
	all := text.String() + problems.String()
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"mcp", "--json"}, `"state": "ready"`},
		{[]string{"mcp", "logout", "greeter"}, "You are signed out of greeter."},
		{[]string{"mcp", "logout", "greeter"}, "You were not signed in to greeter."},
	} {
		out, err := command(step.args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), step.want) {
			t.Errorf("%q: %s, %v; want %q", step.args, out, err, step.want)
		}
		all += string(out)
	}
	if strings.Contains(all, mcptest.Canary) {
		t.Errorf("a token is shown: %s", all)
	}
	if runtime.GOOS == "windows" {
		return
	}
	files, err := filepath.Glob(filepath.Join(tokensDir(home), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the files are %q, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}

// browsing opens the address in what is printed, as a user does.
type browsing struct {
	t      *testing.T
	server *mcptest.Server
	text   *bytes.Buffer
	done   bool
}

func (b *browsing) Write(p []byte) (int, error) {
	b.text.Write(p)
	for line := range strings.Lines(b.text.String()) {
		if line = strings.TrimSpace(line); !b.done && strings.HasPrefix(line, "http://") && strings.HasSuffix(b.text.String(), "\n") {
			b.done = true
			if _, err := b.server.Browse(context.WithoutCancel(b.t.Context()), line); err != nil {
				b.t.Errorf("browse %q: %v", line, err)
			}
		}
	}
	return len(p), nil
}
