package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
)

// TestRobust_Model is a table of faults of model servers, through the whole program: whatever a model server does, the turn ends well or with an
// error that says what happened, no call that was cut is run, every call ends,
// and the next prompt works.
func TestRobust_Model(t *testing.T) {
	t.Parallel()
	write := modeltest.Call{Name: "write", Arguments: `{"path":"made.txt","content":"x"}`}
	read := modeltest.Call{Name: "read", Arguments: `{"path":"there.txt"}`}
	here := modeltest.Step{Text: "Here."}
	with := func(c modeltest.Call, change func(*modeltest.Call)) modeltest.Call {
		change(&c)
		return c
	}
	for _, tc := range []struct {
		name  string
		steps []modeltest.Step
		stop  string // "" means an error
		code  int
		text  string // in the error, or in what is said
		made  bool   // the file of the write call is there
		calls int    // tool calls that the client sees
	}{
		{name: "429 with Retry-After", stop: "end_turn", text: "Trying again", steps: []modeltest.Step{
			{Status: 429, Header: map[string]string{"Retry-After": "1"}, Body: `{"error":{"message":"slow down"}}`}, here,
		}},
		{name: "429 six times", stop: "end_turn", text: "as the server is busy", steps: []modeltest.Step{
			{Status: 429, Header: map[string]string{"Retry-After-Ms": "20"}, Body: `{"error":{"message":"slow down"}}`, Repeat: 6}, here,
		}},
		{name: "loading", stop: "end_turn", text: "Loading model", steps: []modeltest.Step{
			{Status: 503, Body: `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`}, here,
		}},
		{name: "no credit", code: -32000, text: "no credit left", steps: []modeltest.Step{
			{Status: 429, Body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`}, here,
		}},
		{name: "500", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Status: 500, Body: "oops"}, here}},
		{name: "429 for an hour", code: -32603, text: "slow down", steps: []modeltest.Step{
			{Status: 429, Header: map[string]string{"Retry-After": "3600"}, Body: `{"error":{"message":"slow down"}}`},
		}},
		{name: "401", code: -32000, text: "no such key", steps: []modeltest.Step{{Status: 401, Body: `{"error":{"message":"no such key"}}`}}},
		{name: "400", code: -32603, text: "bad model", steps: []modeltest.Step{{Status: 400, Body: `{"error":{"message":"bad model"}}`}}},
		{name: "cut before the first event", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Text: "x", Cut: -1}, here}},
		{name: "cut in text", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Text: "half of it", Pieces: 5, Cut: 3}, here}},
		{name: "cut in a call", stop: "end_turn", text: "Here.", calls: 1, steps: []modeltest.Step{
			{Calls: []modeltest.Call{with(write, func(c *modeltest.Call) { c.Pieces = 6 })}, Cut: 4}, here,
		}},
		{name: "cut after a whole call", stop: "end_turn", text: "Here.", calls: 1, steps: []modeltest.Step{
			{Calls: []modeltest.Call{write}, Cut: 2}, here,
		}},
		{name: "no DONE", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Text: "Here.", NoDone: true}}},
		{name: "call in many pieces", stop: "end_turn", text: "Here.", made: true, calls: 1, steps: []modeltest.Step{
			{Calls: []modeltest.Call{with(write, func(c *modeltest.Call) { c.Pieces = 30 })}}, here,
		}},
		{name: "calls without ids", stop: "end_turn", text: "Here.", calls: 2, steps: []modeltest.Step{
			{Calls: []modeltest.Call{with(read, func(c *modeltest.Call) { c.NoID = true }), with(read, func(c *modeltest.Call) { c.NoID = true })}}, here,
		}},
		{name: "calls of one id", stop: "end_turn", text: "Here.", calls: 2, steps: []modeltest.Step{
			{Calls: []modeltest.Call{with(read, func(c *modeltest.Call) { c.ID = "same" }), with(read, func(c *modeltest.Call) { c.ID = "same" })}}, here,
		}},
		{name: "one id in two steps", stop: "end_turn", text: "Here.", calls: 2, steps: []modeltest.Step{
			{Calls: []modeltest.Call{read}}, {Calls: []modeltest.Call{read}}, here,
		}},
		{name: "arguments not JSON", stop: "end_turn", text: "Here.", calls: 1, steps: []modeltest.Step{
			{Calls: []modeltest.Call{{Name: "write", Arguments: `path=made.txt`}}}, here,
		}},
		{name: "arguments empty", stop: "end_turn", text: "Here.", calls: 1, steps: []modeltest.Step{{Calls: []modeltest.Call{{Name: "write"}}}, here}},
		{name: "unknown tool", stop: "end_turn", text: "Here.", calls: 1, steps: []modeltest.Step{{Calls: []modeltest.Call{{Name: "teleport", Arguments: "{}"}}}, here}},
		{name: "malformed arguments for ever", stop: "max_turn_requests", text: "malformed", calls: 3, steps: []modeltest.Step{
			{Calls: []modeltest.Call{{Name: "write", Arguments: `{"path`}}, Repeat: 5},
		}},
		{name: "cut calls for ever", stop: "max_turn_requests", text: "cut off its calls", calls: 3, steps: []modeltest.Step{
			{Calls: []modeltest.Call{write}, Finish: "length", Repeat: 5},
		}},
		{name: "malformed events", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Raw: []string{"data: {not json}", "", "data: [DONE]", ""}}, here}},
		{name: "strange events", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Raw: []string{
			": a comment", "\ufeffdata: {}", "event: ping", "data:", "", "retry: 10",
			`data:{"choices":[{"index":0,"delta":{"content":"He"}}]}` + "\r", "\r",
			`data: {"choices":[]}`, "", `data: {"choices":[{"index":0,"delta":{"content":null}}]}`, "",
			`data: {"choices":[{"index":0,"delta":{"content":"re."},"finish_reason":"stop"}]}`, "", "data: [DONE]", "",
		}}}},
		{name: "empty choices twice", code: -32603, text: "empty", steps: []modeltest.Step{
			{Raw: []string{`data: {"choices":[]}`, "", "data: [DONE]", ""}, Repeat: 2},
		}},
		{name: "empty once", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{}, here}},
		{name: "page with 200", code: -32603, steps: []modeltest.Step{
			{Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><body>Sign in</body></html>"}, here,
		}},
		{name: "whole answer", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Whole: true, Text: "Here."}}},
		{name: "length", stop: "max_tokens", text: "half", steps: []modeltest.Step{{Text: "half", Finish: "length"}}},
		{name: "content filter", stop: "refusal", text: "half", steps: []modeltest.Step{{Text: "half", Finish: "content_filter"}}},
		{name: "unknown finish", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Text: "Here.", Finish: "tired"}}},
		{name: "no finish", stop: "end_turn", text: "Here.", steps: []modeltest.Step{{Text: "Here.", Finish: "none"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(t, tc.steps...)
			agent := acptest.Start(t, acptest.Options{
				Env:        []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake", "OPENAI_API_KEY=sk-matrix"},
				Permission: acptest.Answer("allow_once"),
			})
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "there.txt"), []byte("one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			agent.Initialize("")
			session := agent.NewSession(dir)
			turn := session.Prompt("go")
			if tc.stop != "" {
				turn.Ends(tc.stop)
				if text := session.Text(); !strings.Contains(text, tc.text) {
					t.Errorf("the agent said %q, want it to contain %q", text, tc.text)
				}
			} else {
				turn.Fails(tc.code, tc.text)
			}
			if _, err := os.Stat(filepath.Join(dir, "made.txt")); (err == nil) != tc.made {
				t.Errorf("the file of the call is there: %t, want %t", err == nil, tc.made)
			}
			if got := toolCalls(agent); got != tc.calls {
				t.Errorf("%d tool calls were shown, want %d", got, tc.calls)
			}
			server.Handle("/v1/chat/completions", modeltest.New(t, modeltest.Step{Text: "And on."}).ServeHTTP)
			session.Prompt("next").Ends("end_turn")
			if text := session.Text(); !strings.HasSuffix(text, "And on.") {
				t.Errorf("the next turn said %q", text)
			}
		})
	}
}

// toolCalls counts the tool calls that the client was shown.
func toolCalls(agent *acptest.Agent) int {
	count := 0
	for _, l := range agent.Lines() {
		if l.FromAgent && l.Message != nil && acptest.Update("tool_call")(l.Message) {
			count++
		}
	}
	return count
}
