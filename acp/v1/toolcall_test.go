package v1

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// agentTerminals is a client that shows terminals of the agent.
var agentTerminals = client{agentTerminals: true}

// A field that the editor knows already is not sent again.
func TestToolCall_UnchangedFieldsNotSent(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		card := kinds.Card{Kind: kinds.Read, Title: "Read a.go", Locations: []kinds.Location{{Path: "/w/a.go", Line: 3}}}
		tr.Emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_1", Name: "Read", Tool: "read", Card: label("read")})
		tr.Emit(transcript.ToolInput{CallID: "call_1", Delta: `{"path"`})
		tr.Emit(transcript.ToolReady{CallID: "call_1", Tool: "read", Args: []byte(`{"path":"a.go"}`), Card: card})
		tr.Emit(transcript.ToolState{CallID: "call_1", State: transcript.BlockedOnUser})
		tr.Emit(transcript.ToolState{CallID: "call_1", State: transcript.InProgress})
		tr.Emit(transcript.ToolState{CallID: "call_1", State: transcript.InProgress})
		tr.Emit(transcript.ToolFinished{
			CallID: "call_1", State: transcript.Done, Text: "x", Card: card,
			Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`"x"`)},
		})
		tr.Emit(transcript.ToolState{CallID: "call_1", State: transcript.InProgress})
		want := []string{
			`{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Read file","name":"Read","kind":"read","status":"pending","_meta":{"tool_name":"Read"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","title":"Read a.go","locations":[{"path":"/w/a.go","line":3}],"rawInput":{"path":"a.go"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"in_progress"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"` +
				"```\\nx\\n```" + `"}}],"rawOutput":{"type":"output","data":"x","metadata":{"duration_ms":0}}}`,
		}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}

// The first message of a call announces a terminal of ours; later messages append output and
// report the end.
func TestToolCall_AgentTerminal(t *testing.T) {
	for key, c := range map[string]client{
		"terminal_output":       {agentTerminals: true},
		"terminal_output_delta": {agentTerminals: true, terminalDelta: true, terminals: true},
	} {
		t.Run(key, func(t *testing.T) {
			inTurn(t, c, func(t *testing.T, tr *translator, r *recorder) {
				startBash(tr.Emit)
				for _, text := range []string{"one\n", "two\n", "three\n"} {
					tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: text})
				}
				time.Sleep(2 * outputInterval)
				tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "four\n"})
				tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "five\n"}) // the end does not lose it
				endBash(tr.Emit, transcript.Done, "all", `{"exit_code":3}`)
				output := func(data string) string {
					return `{"sessionUpdate":"tool_call_update","toolCallId":"call_1","_meta":{"` + key + `":{"data":"` + data + `","terminal_id":"call_1"}}}`
				}
				want := []string{
					`{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"make","name":"Bash","kind":"execute","status":"pending","content":[{"type":"terminal","terminalId":"call_1"}],"rawInput":{"cmd":"make","cwd":"/w"},"_meta":{"terminal_info":{"cwd":"/w","terminal_id":"call_1"},"tool_name":"Bash"}}`,
					`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"in_progress"}`,
					output(`one\n`), output(`two\nthree\n`), output(`four\n`), output(`five\n[exit 3]\n`),
					`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","title":"make (exit 3)","_meta":{"terminal_exit":{"exit_code":3,"signal":null,"terminal_id":"call_1"}}}`,
				}
				if diff := cmp.Diff(want, r.lines()); diff != "" {
					t.Errorf("updates (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The editor's own terminal shows the command. If no program could be started there, the card
// loses the terminal and shows the output as text.
func TestToolCall_ClientTerminal(t *testing.T) {
	const (
		shown     = `{"sessionUpdate":"tool_call_update","toolCallId":"call_1","content":[{"type":"terminal","terminalId":"term_7"}]}`
		takenBack = `{"sessionUpdate":"tool_call_update","toolCallId":"call_1","content":[]}`
	)
	text := `{"sessionUpdate":"tool_call_update","toolCallId":"call_1","content":[{"type":"content","content":{"type":"text","text":"` +
		"```console\\nhi\\n```" + `"}}]}`
	tests := []struct {
		name   string
		events []transcript.Event
		want   []string
	}{
		{
			"shown",
			[]transcript.Event{
				transcript.ToolTerminal{CallID: "call_1", TerminalID: "term_7"},
				transcript.ToolOutput{CallID: "call_1", Text: "hi\n"}, // the terminal has it
			},
			[]string{shown, `{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed"}`},
		},
		{
			"taken back",
			[]transcript.Event{
				transcript.ToolTerminal{CallID: "call_1", TerminalID: "term_7"},
				transcript.ToolTerminal{CallID: "call_1"},
				transcript.ToolOutput{CallID: "call_1", Text: "hi\n"},
			},
			[]string{
				shown, takenBack, text,
				// The text that is shown already is not sent again.
				`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed",` +
					`"rawOutput":{"type":"output","data":{"exit_code":0},"metadata":{"duration_ms":0}}}`,
			},
		},
		{
			"of an unknown call",
			[]transcript.Event{transcript.ToolTerminal{CallID: "call_9", TerminalID: "term_7"}},
			nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inTurn(t, client{terminals: true}, func(t *testing.T, tr *translator, r *recorder) {
				startBash(tr.Emit)
				r.take()
				for _, e := range test.events {
					tr.Emit(e)
				}
				if test.want == nil {
					if got := r.lines(); got != nil {
						t.Errorf("updates: %q", got)
					}
				}
				endBash(tr.Emit, transcript.Done, "hi\n", `{"exit_code":0}`)
				if got := r.lines(); test.want != nil {
					if diff := cmp.Diff(test.want, got); diff != "" {
						t.Errorf("updates (-want +got):\n%s", diff)
					}
				}
			})
		})
	}
}

// A client that can only receive whole cards is not sent 50 MB over and over.
func TestToolCall_PlainWindowBounded(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startBash(tr.Emit)
		line := strings.Repeat("é", 16<<10) + "\n" // 32 KiB
		for range 50 << 20 / len(line) {
			tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: line})
			time.Sleep(time.Millisecond)
		}
		endBash(tr.Emit, transcript.Done, strings.Repeat("x", 200<<10), `{"exit_code":0}`)
		total := 0
		for _, n := range r.take() {
			total += len(n.json)
			if len(n.json) > contentBytes+rawBytes {
				t.Errorf("an update of %d bytes", len(n.json))
			}
			if strings.Contains(n.json, `\ufffd`) || strings.Contains(n.json, "\ufffd") {
				t.Error("a character was cut")
			}
		}
		if total > 1<<20 {
			t.Errorf("%d bytes were sent", total)
		}
	})
}

// The output of a command between two updates does not accumulate.
func TestToolCall_PlainWindowKeepsLittle(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, _ *recorder) {
		startBash(tr.Emit)
		for range 1000 {
			tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: strings.Repeat("x", 1000)})
		}
		view := tr.cards.calls["call_1"]
		if kept := view.output.waiting.Len() + len(view.output.window); kept > 2*windowBytes {
			t.Errorf("%d bytes are kept", kept)
		}
	})
}

// Of what a fast command prints between two updates, the end is shown.
func TestToolCall_PlainWindowShowsTheEnd(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startBash(tr.Emit)
		tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "first\n"})
		tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: strings.Repeat("x", windowBytes)})
		tr.Emit(transcript.ToolOutput{CallID: "call_1", Text: "last\n"})
		r.take()
		time.Sleep(time.Second)
		got := r.lines()
		if len(got) != 1 || !strings.Contains(got[0], "…xxx") || !strings.Contains(got[0], `xlast\n`) || strings.Contains(got[0], "first") {
			t.Errorf("updates: %.200q", got)
		}
	})
}

// Every call that was announced, shown or not, ends with a final status, and its card says what
// went wrong (R125).
func TestToolCall_Ends(t *testing.T) {
	ready := transcript.ToolReady{CallID: "call_1", Tool: "bash", Args: []byte(`{"cmd":"x"}`), Card: kinds.Card{Kind: kinds.Execute, Title: "x"}}
	faulty := transcript.ToolReady{CallID: "call_1", Tool: "bash", Input: `{"cmd`, Card: kinds.Card{Kind: kinds.Execute, Title: "Run command"}}
	tests := []struct {
		name   string
		client client
		ready  []transcript.Event
		state  transcript.State
		status string
		holds  []string
	}{
		{"failed", client{}, []transcript.Event{ready}, transcript.Failed, "failed", []string{`"text":"why"`, `"error_text":"why"`}},
		{"denied", client{}, []transcript.Event{ready}, transcript.Rejected, "failed", []string{`"text":"why"`}},
		{"cancelled", client{}, []transcript.Event{ready}, transcript.Cancelled, "failed", []string{`"text":"why"`}},
		{"failed in a terminal", agentTerminals, []transcript.Event{ready}, transcript.Failed, "failed", []string{`{"type":"terminal","terminalId":"call_1"}`, `"text":"why"`, `"terminal_exit"`}},
		{"never ready", client{}, nil, transcript.Cancelled, "failed", []string{`"text":"why"`}},
		{"not JSON", agentTerminals, []transcript.Event{faulty}, transcript.Failed, "failed", []string{`"text":"why"`}},
		{"done", client{}, []transcript.Event{ready}, transcript.Done, "completed", nil},
		{"done in a terminal", agentTerminals, []transcript.Event{ready}, transcript.Done, "completed", []string{`"terminal_exit"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inTurn(t, test.client, func(t *testing.T, tr *translator, r *recorder) {
				tr.Emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_1", Name: "bash", Tool: "bash", Card: label("bash")})
				for _, e := range test.ready {
					tr.Emit(e)
				}
				endBash(tr.Emit, test.state, "why", `{}`)
				got := r.lines()
				if len(got) != 2 || !strings.Contains(got[0], `"sessionUpdate":"tool_call"`) {
					t.Fatalf("updates: %q", got)
				}
				for _, want := range append(test.holds, `"status":"`+test.status+`"`) {
					if !strings.Contains(got[1], want) {
						t.Errorf("the end lacks %s: %s", want, got[1])
					}
				}
				endBash(tr.Emit, test.state, "why", `{}`)
				if again := r.lines(); again != nil {
					t.Errorf("ended again: %q", again)
				}
			})
		})
	}
}

// Arguments that are not JSON are shown as the model wrote them.
func TestToolCall_FaultyInput(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		tr.Emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_1", Name: "read", Tool: "read", Card: label("read")})
		r.take()
		tr.Emit(transcript.ToolReady{CallID: "call_1", Tool: "read", Input: `{"path`, Card: kinds.Card{Kind: kinds.Read, Title: "Read file"}})
		want := []string{`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","rawInput":"{\"path"}`}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}

// The content that the tool chose is sent as it is.
func TestToolCall_CardContent(t *testing.T) {
	old := "a"
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		tr.Emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_1", Name: "edit", Tool: "edit", Card: label("edit")})
		r.take()
		tr.Emit(transcript.ToolFinished{
			CallID: "call_1", State: transcript.Done, Text: "not shown", Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`"` + strings.Repeat("x", rawBytes) + `"`)},
			Card: kinds.Card{Kind: kinds.Edit, Title: "Edit a.go", Content: []kinds.Content{
				kinds.Text{Text: "t"},
				kinds.Image{MediaType: "image/png", Data: "QQ=="},
				kinds.Diff{Path: "/w/a.go", Old: &old, New: "b"},
				kinds.Diff{Path: "/w/b.go", New: "c"},
			}},
		})
		want := []string{`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","title":"Edit a.go","content":[` +
			`{"type":"content","content":{"type":"text","text":"t"}},{"type":"content","content":{"type":"image","data":"QQ==","mimeType":"image/png"}},` +
			`{"type":"diff","path":"/w/a.go","oldText":"a","newText":"b"},{"type":"diff","path":"/w/b.go","newText":"c"}],` +
			`"rawOutput":{"type":"output","metadata":{"duration_ms":0}}}`}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}
