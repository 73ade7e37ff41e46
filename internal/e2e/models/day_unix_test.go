//go:build unix

package models

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/anthropictest"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/responsestest"
)

// visitor is an MCP server with one tool, which comes and goes.
type visitor struct{ away atomic.Bool }

func (v *visitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID     json.RawMessage
		Method string
	}
	body, _ := io.ReadAll(r.Body)
	if v.away.Load() {
		panic(http.ErrAbortHandler) // the connection ends
	}
	if r.Method != http.MethodPost || json.Unmarshal(body, &asked) != nil || asked.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"visitor","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"greet","description":"Greets.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`,
		"tools/call": `{"content":[{"type":"text","text":"Good day."}]}`,
	}[asked.Method]
	if result == "" {
		result = "{}"
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, result)
}

// The turns of the day at which something happens.
const (
	dayTurns      = 200
	dayVitals     = 60 // when everything was used once
	dayOverflow   = 30 // of a Chat model
	dayStorm      = 88 // of 429, at the Responses API
	dayCut        = 93
	dayAway       = 121 // the MCP server is gone
	dayOverflow2  = 150 // of an Anthropic model
	dayBack       = 181 // the MCP server is there again
	dayPerModel   = 5   // turns until the model is changed
	dayAnswer     = "Turn %d is done."
	daySummary    = "They read a file again and again."
	dayMCPTool    = "mcp__visitor__greet"
	dayReadArgs   = `{"path":"there.txt"}`
	dayClearEvery = 75
)

var dayModels = []string{"plain/one", "claude/claude-sonnet-4-5", "gpt/gpt-test-9", "plain/two", "claude/claude-opus-5-5"}

// dayModel is the model of a turn.
func dayModel(turn int) string { return dayModels[(turn-1)/dayPerModel%len(dayModels)] }

// dayTool is the tool that the model calls in a turn.
func dayTool(turn int) (name, args string) {
	switch {
	case turn%10 == 3:
		return dayMCPTool, "{}"
	case turn%10 == 7:
		return "bash", `{"cmd":"cat there.txt"}`
	}
	return "read", dayReadArgs
}

// daySteps are what the three servers answer, in the order of the turns.
func daySteps() (chat []modeltest.Step, claude []anthropictest.Step, gpt []responsestest.Step) {
	for turn := 1; turn <= dayTurns; turn++ {
		name, args := dayTool(turn)
		answer := fmt.Sprintf(dayAnswer, turn)
		switch provider, _, _ := strings.Cut(dayModel(turn), "/"); provider {
		case "plain":
			if turn == dayOverflow {
				chat = append(chat, modeltest.Step{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`}, modeltest.Step{Text: daySummary})
			}
			chat = append(chat, modeltest.Step{Reasoning: "Look.", Calls: []modeltest.Call{{Name: name, Arguments: args, Pieces: 3}}})
			if turn == dayCut {
				chat = append(chat, modeltest.Step{Text: "Half of it, and ", Pieces: 3, Cut: 3})
			}
			chat = append(chat, modeltest.Step{Text: answer})
		case "claude":
			if turn == dayOverflow2 {
				claude = append(claude, anthropictest.Step{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`}, anthropictest.Step{Text: daySummary})
			}
			claude = append(claude, anthropictest.Step{Thinking: "Look.", Calls: []anthropictest.Call{{Name: name, Input: args}}}, anthropictest.Step{Text: answer})
		case "gpt":
			if turn == dayStorm {
				for range 8 {
					gpt = append(gpt, responsestest.Step{
						Status: 429, Header: map[string]string{"Retry-After-Ms": "5"}, Body: `{"error":{"message":"Rate limit reached. Please try again in 5ms.","type":"tokens","code":"rate_limit_exceeded"}}`,
					})
				}
			}
			gpt = append(gpt, responsestest.Step{Thoughts: []string{"Look."}, Calls: []responsestest.Call{{Name: name, Arguments: args}}}, responsestest.Step{Text: answer})
		}
	}
	return chat, claude, gpt
}

// TestDay is a long day in one session: 200 turns with five models of three providers, two
// requests that are too long and are compacted, a storm of 429, an answer that breaks off, and an MCP server that
// goes and comes back. At its end the session answers, the servers that check the rules of
// their APIs found nothing to refuse, and neither memory nor goroutines have grown.
func TestDay(t *testing.T) {
	t.Parallel()
	chatSteps, claudeSteps, gptSteps := daySteps()
	chat, claude, gpt := modeltest.New(t, chatSteps...), anthropictest.New(t, claudeSteps...), responsestest.New(t, gptSteps...)
	guest := &visitor{}
	mcp := httptest.NewServer(guest)
	t.Cleanup(mcp.Close)
	dir, own := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there.txt"), []byte("here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vitalsFile := filepath.Join(own, "vitals")
	agent := acptest.Start(t, acptest.Options{
		Env: []string{"ACP_AGENT_CONFIG=" + dayConfig(t, own, chat.URL, claude.URL, gpt.URL), agenttest.EnvVitals + "=" + vitalsFile}, Permission: acptest.Answer("allow_once"),
	})
	agent.Initialize("")
	session := agent.OpenSession(map[string]any{
		"cwd": dir, "mcpServers": []any{map[string]any{"type": "http", "name": "visitor", "url": mcp.URL, "headers": []any{}}},
	})
	day := &day{T: t, agent: agent, session: session}
	var early agenttest.Vitals
	for turn := 1; turn <= dayTurns; turn++ {
		switch turn {
		case dayAway, dayBack:
			guest.away.Store(turn == dayAway)
			mcp.CloseClientConnections()
			if turn == dayBack {
				day.awaitGuest()
			}
		case dayVitals:
			early = agenttest.ReadVitals(t, agent, vitalsFile)
		}
		day.turn(turn)
	}
	late := agenttest.ReadVitals(t, agent, vitalsFile)
	t.Logf("after %d turns %+v, after %d %+v", dayVitals, early, dayTurns, late)
	if late.Goroutines > early.Goroutines+3 {
		t.Errorf("%d goroutines became %d", early.Goroutines, late.Goroutines)
	}
	// The record of the conversation grows, and nothing else.
	const room = 8 << 20
	if late.Heap > early.Heap+room {
		t.Errorf("%d bytes in use became %d", early.Heap, late.Heap)
	}
	// It is called every ten turns, six times while it is away.
	if greeted := day.greeted(); greeted != dayTurns/10-6 {
		t.Errorf("the MCP server answered %d calls", greeted)
	}
	for _, problem := range append(claude.Broken(), gpt.Broken()...) {
		t.Errorf("refused: %s", problem)
	}
	if left := chat.Left() + claude.Left() + gpt.Left(); left != 0 {
		t.Errorf("%d answers were not asked for", left)
	}
}

// dayConfig writes the configuration with the three providers.
func dayConfig(t *testing.T, dir, chat, claude, gpt string) string {
	t.Helper()
	provider := func(api, url string) map[string]any {
		p := map[string]any{"api": api, "base_url": url, "api_key": "sk-of-the-day-0123456789", "models": []string{}}
		models := []string{}
		for _, name := range dayModels {
			if of, id, _ := strings.Cut(name, "/"); url == map[string]string{"plain": chat, "claude": claude, "gpt": gpt}[of] {
				models = append(models, id)
			}
		}
		p["models"] = models
		return p
	}
	text, err := json.Marshal(map[string]any{
		"model": map[string]any{"name": dayModels[0], "thought_level": ""},
		"providers": map[string]any{
			"plain": provider("chat", chat), "claude": provider("anthropic", claude), "gpt": provider("responses", gpt),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.jsonc")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// day plays the turns.
type day struct {
	*testing.T
	agent   *acptest.Agent
	session *acptest.Session
	model   string
}

// turn plays one turn, with its model.
func (d *day) turn(turn int) {
	d.Helper()
	if model := dayModel(turn); model != d.model {
		d.model = model
		d.agent.Request("session/set_config_option", map[string]any{"sessionId": d.session.ID, "configId": "model", "value": model}).Result()
	}
	before := len(d.session.Text())
	prompt := d.session.Prompt(fmt.Sprintf("turn %d", turn))
	prompt.Ends("end_turn")
	said := d.session.Text()[before:]
	for _, want := range append([]string{fmt.Sprintf(dayAnswer, turn)}, map[int][]string{
		dayOverflow: {"was compacted"}, dayOverflow2: {"was compacted"}, dayStorm: {"as the server is busy"}, dayCut: {"Half of it", "Trying again"},
	}[turn]...) {
		if !strings.Contains(said, want) {
			d.Fatalf("turn %d with %s: the agent said %q, without %q", turn, d.model, said, want)
		}
	}
	if turn%dayClearEvery == 0 {
		d.session.Prompt("/clear").Ends("end_turn")
	}
}

// greeted counts the calls that the MCP server answered.
func (d *day) greeted() (n int) {
	for _, l := range d.agent.Lines() {
		if l.FromAgent && l.Message != nil && acptest.Update("tool_call_update", "status", "completed")(l.Message) && strings.Contains(l.Raw, "Good day.") {
			n++
		}
	}
	return n
}

// awaitGuest waits until the MCP server is connected again.
func (d *day) awaitGuest() {
	d.Helper()
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		before := len(d.session.Text())
		d.session.Prompt("/mcp").Ends("end_turn")
		if strings.Contains(d.session.Text()[before:], "ready") {
			return
		}
	}
	d.Fatal("the MCP server is back and not connected")
}
