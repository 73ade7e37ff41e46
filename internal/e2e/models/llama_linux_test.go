package models

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/gguf"
	"acp-agent/internal/testkit/helpertest"
	"acp-agent/internal/testkit/testreq"
)

// envLlama names the program of a real llama.cpp server (make llama).
const envLlama = "ACP_LLAMA"

// llamaWords is a vocabulary for what the agent sends: its own texts for models.
var llamaWords = sync.OnceValues(func() (gguf.Vocabulary, error) {
	files, err := filepath.Glob("../../../tools/builtin/*.md")
	if err != nil {
		return gguf.Vocabulary{}, err
	}
	var text strings.Builder
	for _, name := range append(files, "../../../README.md") {
		one, err := os.ReadFile(name)
		if err != nil {
			return gguf.Vocabulary{}, err
		}
		text.Write(one)
	}
	return gguf.Learn(text.String(), 1000), nil
})

// llamaFile writes a model, whose leanings and way to answer are given.
func llamaFile(t *testing.T, model gguf.Model) string {
	t.Helper()
	words, err := llamaWords()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "random.gguf")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	model.Vocabulary, model.Window, model.Seed = words, 65536, 1
	if err := model.File().Write(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// talks is a model that writes a text of some dozen words, without a thought or a call.
var talks = gguf.Model{Leanings: map[string]float32{
	gguf.End: 3, "<think>": -100, "</think>": -100, "<tool_call>": -100, "</tool_call>": -100,
}}

// realLlama is a real server.
type realLlama struct {
	t    *testing.T
	base string // without /v1
}

// loadLlama is a server that has loaded such a model, for windows of that many tokens.
func loadLlama(t *testing.T, model gguf.Model, window int, args ...string) *realLlama {
	t.Helper()
	needLlama(t)
	s := startLlama(t, llamaFile(t, model), window, args...)
	s.status(http.StatusOK)
	return s
}

func needLlama(t *testing.T) {
	t.Helper()
	if os.Getenv(envLlama) == "" {
		testreq.Skip(t, "there is no llama.cpp server (make llama)")
	}
}

// startLlama starts a server and does not wait for it.
func startLlama(t *testing.T, model string, window int, args ...string) *realLlama {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	s := &realLlama{t: t, base: "http://127.0.0.1:" + port}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	// Without the samplers that cut rare words off the leanings count as they are.
	all := append([]string{
		"--model", model, "--host", "127.0.0.1", "--port", port, "--parallel", "1", "--threads", "1",
		"--alias", "random", "--ctx-size", strconv.Itoa(window), "--temp", "1", "--top-k", "0", "--top-p", "1", "--min-p", "0",
	}, args...)
	cmd := exec.Command(os.Getenv(envLlama), all...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the server's log:\n%s", text[max(0, len(text)-4000):])
		}
		_ = log.Close()
	})
	return s
}

// status waits until the server answers /health with that status.
func (s *realLlama) status(want int) {
	s.t.Helper()
	limit := time.Now().Add(time.Minute)
	last := "nothing"
	for time.Now().Before(limit) {
		res, err := http.Get(s.base + "/health")
		if err != nil {
			last = err.Error()
		} else {
			_ = res.Body.Close()
			if last = res.Status; res.StatusCode == want {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("the server answers %s, want %d", last, want)
}

// llamaAgent starts the agent with a configuration in which $SERVER is the server.
func llamaAgent(t *testing.T, s *realLlama, config string) *acptest.Agent {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "acp-agent")
	if err := helpertest.Build("acp-agent/cmd/acp-agent", binary); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "config.jsonc")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(config, "$SERVER", s.base)), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := acptest.Start(t, acptest.Options{Program: binary, Env: []string{"ACP_AGENT_CONFIG=" + name}, Patience: time.Minute, Permission: acptest.Answer("reject_once")})
	agent.Initialize("")
	return agent
}

// onlyServer is a configuration with the server alone.
const onlyServer = `{"providers": {"llama.cpp": {"base_url": "$SERVER/v1"}}}`

// updates are those of a kind so far, in order.
func updates(s *acptest.Session, kind string) []*acptest.Message {
	var found []*acptest.Message
	for _, l := range s.Lines() {
		if l.FromAgent && l.Message != nil && l.Message.Session() == s.ID {
			if got, _ := l.Message.Update(); got == kind {
				found = append(found, l.Message)
			}
		}
	}
	return found
}

// thoughts is all that was thought in a session.
func thoughts(s *acptest.Session) string {
	var text strings.Builder
	for _, m := range updates(s, "agent_thought_chunk") {
		text.WriteString(fmt.Sprint(m.Get("update.content.text")))
	}
	return text.String()
}

// TestLlama_Text is a first conversation: the server's model is on offer, its window is the
// one that the server was started with, and what it writes comes in pieces.
func TestLlama_Text(t *testing.T) {
	t.Parallel()
	server := loadLlama(t, talks, 32768)
	agent := llamaAgent(t, server, onlyServer)
	session := agent.NewSession(t.TempDir())
	session.Prompt("hello").Ends("end_turn")
	session.Prompt("hello again").Ends("end_turn")
	options := fmt.Sprint(session.Opened.Get("result.configOptions"))
	for _, m := range updates(session, "config_option_update") {
		options = fmt.Sprint(m.Get("update.configOptions"))
	}
	if !strings.Contains(options, "llama.cpp/random") {
		t.Errorf("the options are %s", options)
	}
	if pieces := updates(session, "agent_message_chunk"); len(pieces) < 5 {
		t.Errorf("%d pieces of text", len(pieces))
	}
	usage := updates(session, "usage_update")
	for _, m := range usage {
		if m.Get("update.size") != 32768.0 {
			t.Errorf("the window is %v", m.Get("update.size"))
		}
	}
	if len(usage) < 2 || usage[len(usage)-1].Get("update.used").(float64) <= usage[0].Get("update.used").(float64) {
		t.Errorf("the usage is told as %v", usage)
	}
	if text := session.Text(); strings.Contains(text, "Trying again") {
		t.Errorf("the user was told of a failure: %s", text)
	}
}

// TestLlama_SmallWindow is a server that was started with a window that is too small: its
// user is warned, and told what to do when it is full.
func TestLlama_SmallWindow(t *testing.T) {
	t.Parallel()
	server := loadLlama(t, talks, 8192)
	agent := llamaAgent(t, server, onlyServer)
	session := agent.NewSession(t.TempDir())
	session.Prompt("hello").Ends("end_turn")
	if text := session.Text(); !strings.Contains(text, "the window of random is only 8192 tokens") {
		t.Errorf("the user read %q", text)
	}
	for range 2 { // it is as full at the second try
		m := session.Prompt(strings.Repeat("hello ", 9000)).Wait()
		if m.Error == nil || !strings.Contains(m.Error.Message, "exceeds the available context size (8192 tokens)") || !strings.Contains(m.Error.Message, "`/clear` begins a new one") {
			t.Errorf("the prompt that does not fit ended with %+v", m.Error)
		}
	}
	session.Prompt("/clear").Ends("end_turn")
	session.Prompt("hello").Ends("end_turn")
}

// TestLlama_Calls has the server write calls, which its grammar makes valid, of any of the
// tools with any arguments: each is shown, judged and answered, and the conversation with
// all of that is one that the server takes.
func TestLlama_Calls(t *testing.T) {
	t.Parallel()
	server := loadLlama(t, gguf.Model{Leanings: map[string]float32{
		gguf.End: 9, "<tool_call>": 5, `"`: 6, "}": 6, "<think>": -100, "</think>": -100,
	}}, 32768)
	agent := llamaAgent(t, server, `{
		"model": {"name": "forced/random"}, "limits": {"max_steps": 2}, "tools": {"disable": ["task", "question", "web_fetch"]},
		"providers": {
			"forced": {"preset": "llama.cpp", "base_url": "$SERVER/v1", "extra_body": {"tool_choice": "required"}},
			"free": {"preset": "llama.cpp", "base_url": "$SERVER/v1", "extra_body": {"logit_bias": [["<tool_call>", false]], "ignore_eos": true, "max_tokens": 64}}
		}
	}`)
	session := agent.NewSession(t.TempDir())
	session.Prompt("hello").Ends("max_turn_requests") // a forced call is followed by one
	calls := updates(session, "tool_call")
	ended := map[any]string{}
	for _, m := range updates(session, "tool_call_update") {
		if status := m.Get("update.status"); status == "completed" || status == "failed" {
			ended[m.Get("update.toolCallId")] = fmt.Sprint(m.Get("update.rawOutput"))
		}
	}
	if len(calls) < 2 || len(ended) != len(calls) {
		t.Errorf("%d calls, %d of them ended", len(calls), len(ended))
	}
	for id, result := range ended {
		if strings.Contains(result, "JSON") || strings.Contains(result, "no tool") {
			t.Errorf("the call %v was not valid: %s", id, result)
		}
	}
	agent.Request("session/set_config_option", map[string]any{"sessionId": session.ID, "configId": "model", "value": "free/random"}).Result()
	before := len(updates(session, "agent_message_chunk"))
	session.Prompt("go on").Ends("max_tokens") // it cannot end by itself, and so is never empty
	if after := len(updates(session, "agent_message_chunk")); after == before {
		t.Error("nothing was said after the calls")
	}
}

// TestLlama_Thoughts has the server take the thoughts out of what the model writes, in each
// form in which it hands them on.
func TestLlama_Thoughts(t *testing.T) {
	t.Parallel()
	thinks := gguf.Model{Thinks: true, Leanings: map[string]float32{
		"</think>": 5, gguf.End: 2, "<think>": -100, "<tool_call>": -100, "</tool_call>": -100,
	}}
	for _, arguments := range []string{
		"--reasoning-format deepseek", "--reasoning-format auto --reasoning-budget 8", "--reasoning-format none",
	} {
		t.Run(arguments, func(t *testing.T) {
			server := loadLlama(t, thinks, 32768, strings.Fields(arguments)...)
			session := llamaAgent(t, server, onlyServer).NewSession(t.TempDir())
			session.Prompt("hello").Ends("end_turn")
			session.Prompt("hello again").Ends("end_turn") // the thoughts of the first are sent along
			if len(thoughts(session)) == 0 || len(session.Text()) == 0 {
				t.Errorf("thought %q, said %q", thoughts(session), session.Text())
			}
		})
	}
}

// TestLlama_Loading begins while the server loads its model: the first prompt is held up,
// its user sees why, and then it is answered. Where no model is named and the loading takes
// longer than a session may wait, its user reads that.
func TestLlama_Loading(t *testing.T) {
	t.Parallel()
	needLlama(t)
	model := llamaFile(t, talks)
	release := hold(t, model)
	server := startLlama(t, model, 8192)
	server.status(http.StatusServiceUnavailable)
	session := llamaAgent(t, server, `{
		"model": {"name": "llama.cpp/random"}, "providers": {"llama.cpp": {"base_url": "$SERVER/v1"}}
	}`).NewSession(t.TempDir())
	other := llamaAgent(t, server, onlyServer)
	unnamed := other.Request("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}})
	unnamed.Fails(-32603, "Loading model (try again when it is ready, or set OPENAI_MODEL")
	turn := session.Prompt("hello")
	session.Expect("the notice of the wait", acptest.Update("agent_message_chunk", "content.text", "Loading model"))
	release()
	turn.Ends("end_turn")
	other.NewSession(t.TempDir()).Prompt("hello").Ends("end_turn")
	if text := session.Text(); !strings.Contains(text, "the window of random is only 8192 tokens") {
		t.Errorf("the user read %q", text)
	}
}

// hold keeps everyone else from opening a file until it is released, by a lease on it, of
// which the system takes no notice for 45 seconds.
func hold(t *testing.T, name string) (release func()) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Fatalf("take a lease on the model: %v", err)
	}
	return func() { _ = file.Close() }
}
