package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/transcript"
)

// event makes a data line of a delta; finish may be empty.
func event(delta, finish string) string {
	if finish == "" {
		return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n"
	}
	return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":"` + finish + `"}]}` + "\n"
}

const done = "data: [DONE]\n"

// fresh stands for an id that the provider made.
const fresh = "<fresh>"

func TestStream_Answers(t *testing.T) {
	text := func(s string) answer { return answer{Text: s, Reason: model.Stop} }
	calls := func(list ...call) answer { return answer{Calls: list, Reason: model.ToolCalls} }
	tool := func(members string) string { return event(`{"tool_calls":[{`+members+`}]}`, "") }
	end := event(`{}`, "tool_calls") + "\n" + done
	tests := []struct {
		name string
		raw  []string
		want answer
	}{
		// The form of the stream.
		{"plain", []string{event(`{"content":"a"}`, ""), event(`{"content":"b"}`, "stop"), done}, text("ab")},
		{"no blank lines", []string{strings.TrimSpace(event(`{"content":"a"}`, "")), strings.TrimSpace(event(`{"content":"b"}`, "stop")), "data: [DONE]"}, text("ab")},
		{"CRLF", []string{strings.ReplaceAll(event(`{"content":"a"}`, "")+"\n"+event(`{"content":"b"}`, "stop")+"\n"+done, "\n", "\r\n")}, text("ab")},
		{"CR", []string{strings.ReplaceAll(event(`{"content":"a"}`, "")+"\n"+event(`{"content":"b"}`, "stop")+"\n"+done, "\n", "\r")}, text("ab")},
		{"comments", []string{": ping\n", event(`{"content":"a"}`, ""), ":\n\n:x\n", event(`{"content":"b"}`, "stop"), done}, text("ab")},
		{"BOM", []string{"\uFEFF" + event(`{"content":"a"}`, "stop"), done}, text("a")},
		{"no space", []string{strings.ReplaceAll(event(`{"content":"a"}`, "stop"), "data: ", "data:"), "data:[DONE]\n"}, text("a")},
		{"other fields", []string{"id: 1\nretry: 5\nevent: message\n" + event(`{"content":"a"}`, "stop"), done}, text("a")},
		{"empty data, junk data", []string{"data:\n\ndata: ping\n", event(`{"content":"a"}`, "stop"), done}, text("a")},
		{"data over several lines", []string{"data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"},\ndata: \"finish_reason\":\"stop\"}]\ndata: }\n", done}, text("a")},
		{"no DONE", []string{event(`{"content":"a"}`, "stop")}, text("a")},
		{"no finish reason", []string{event(`{"content":"a"}`, ""), done}, text("a")},
		{"bare JSON lines", []string{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`}, text("ab")},
		{"one JSON object", []string{`{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`}, text("ab")},
		{"one JSON object, indented", []string{"{\n  \"choices\": [\n    {\"message\": {\"content\": \"ab\"},\n\n  \"finish_reason\": \"stop\"}\n  ]\n}\n"}, text("ab")},
		{"message after the deltas", []string{event(`{"content":"ab"}`, ""), `data: {"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`, done}, text("ab")},

		// What is in an event.
		{"choices empty and null", []string{"data: {\"choices\":[]}\n", "data: {\"choices\":null}\n", "data: {}\n", event(`{"content":"a"}`, "stop"), done}, text("a")},
		{"another choice", []string{`data: {"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":"length"},{"index":0,"delta":{"content":"a"}}]}` + "\n", event(`{}`, "stop"), done}, text("a")},
		{"content null", []string{event(`{"role":"assistant","content":null}`, ""), event(`{"content":"a"}`, "stop"), done}, text("a")},
		{"delta null", []string{event(`null`, ""), event(`{"content":"a"}`, "stop"), done}, text("a")},
		{"content in parts", []string{event(`{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, "stop"), done}, answer{Text: "a", Reasoning: "hm", Reason: model.Stop}},
		{"wrong types", []string{`data: {"model":7,"created":"x","choices":[{"index":"0","delta":{"content":"a","tool_calls":3},"finish_reason":"stop"}],"usage":[]}`, done}, text("a")},
		{"escapes", []string{event(`{"content":"\u00e4\n\ud83d\ude00\"\\"}`, "stop"), done}, text("ä\n😀\"\\")},
		{"bytes that are not UTF-8", []string{event("{\"content\":\"a\xffb\"}", "stop"), done}, text("a\uFFFDb")},

		// Reasoning.
		{"reasoning_content", []string{event(`{"reasoning_content":"hm","content":""}`, ""), event(`{"content":"a"}`, "stop"), done}, answer{Text: "a", Reasoning: "hm", Reason: model.Stop}},
		{"reasoning", []string{event(`{"reasoning":"hm"}`, ""), event(`{"content":"a"}`, "stop"), done}, answer{Text: "a", Reasoning: "hm", Reason: model.Stop}},
		{"reasoning object", []string{event(`{"reasoning":{"text":"hm"}}`, ""), event(`{"content":"a"}`, "stop"), done}, answer{Text: "a", Reasoning: "hm", Reason: model.Stop}},
		{"thinking", []string{event(`{"thinking":"hm"}`, ""), event(`{"content":"a"}`, "stop"), done}, answer{Text: "a", Reasoning: "hm", Reason: model.Stop}},
		{"both the same", []string{event(`{"reasoning":"hm","reasoning_content":"hm"}`, ""), event(`{"content":"a"}`, "stop"), done}, answer{Text: "a", Reasoning: "hm", Reason: model.Stop}},
		{"tags", []string{event(`{"content":"<think>hm</think>a"}`, "stop"), done}, answer{Text: "a", Reasoning: "hm", Reason: model.Stop}},

		// Ends.
		{"length", []string{event(`{"content":"a"}`, "length"), done}, answer{Text: "a", Reason: model.Length}},
		{"content filter", []string{event(`{"content":"a"}`, "content_filter"), done}, answer{Text: "a", Reason: model.Refusal}},
		{"refusal", []string{event(`{"refusal":"I can't"}`, ""), event(`{"refusal":" do that"}`, "stop"), done}, answer{Text: "I can't do that", Reason: model.Refusal}},
		{"unknown reason", []string{event(`{"content":"a"}`, "eos"), done}, text("a")},
		{"unknown reason with calls", []string{tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), event(`{}`, "eos"), done}, calls(call{"a", "f", "{}"})},
		{"stop with calls", []string{tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), event(`{}`, "stop"), done}, calls(call{"a", "f", "{}"})},
		{"tool_calls without calls", []string{event(`{"content":"a"}`, "tool_calls"), done}, text("a")},
		{"nothing at all", []string{event(`{}`, "stop"), done}, text("")},
		{"length within a call", []string{tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}`), event(`{}`, "length"), done}, answer{Calls: []call{{"a", "f", `{"x`}}, Reason: model.Length}},

		// Tool calls.
		{"interleaved with gaps", []string{
			tool(`"index":3,"id":"b","function":{"name":"g","arguments":""}`), tool(`"index":7,"id":"a","function":{"name":"f","arguments":"{"}`),
			tool(`"index":3,"function":{"arguments":"{}"}`), tool(`"index":7,"function":{"arguments":"}"}`), end,
		}, calls(call{"b", "g", "{}"}, call{"a", "f", "{}"})},
		{"several in one delta", []string{event(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]}`, "tool_calls"), done}, calls(call{"a", "f", "{}"}, call{"b", "g", "{}"})},
		{"no index, by id", []string{
			tool(`"id":"a","function":{"name":"f","arguments":"{"}`), tool(`"id":"b","function":{"name":"g","arguments":"{"}`),
			tool(`"id":"a","function":{"arguments":"}"}`), tool(`"id":"b","function":{"arguments":"}"}`), end,
		}, calls(call{"a", "f", "{}"}, call{"b", "g", "{}"})},
		{"no index, no id", []string{
			tool(`"function":{"name":"f","arguments":"{\"x\""}`), tool(`"function":{"arguments":":1}"}`), tool(`"function":{"name":"f","arguments":"{}"}`), end,
		}, calls(call{fresh, "f", `{"x":1}`}, call{fresh, "f", "{}"})},
		{"one index, two ids", []string{
			tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), tool(`"index":0,"id":"b","function":{"name":"g","arguments":"{"}`),
			tool(`"index":0,"function":{"arguments":"}"}`), end,
		}, calls(call{"a", "f", "{}"}, call{"b", "g", "{}"})},
		{"one index, no ids", []string{
			tool(`"index":0,"function":{"name":"f","arguments":"{}"}`), tool(`"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}`), end,
		}, calls(call{fresh, "f", "{}"}, call{fresh, "f", `{"a":1}`})},
		{"a new id for each piece", []string{
			tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{"}`), tool(`"index":0,"id":"z","function":{"arguments":"}"}`), end,
		}, calls(call{"a", "f", "{}"})},
		{"ids missing, null, number", []string{
			tool(`"index":0,"function":{"name":"f","arguments":"{}"}`), tool(`"index":1,"id":null,"function":{"name":"g","arguments":"{}"}`),
			tool(`"index":2,"id":42,"function":{"name":"h","arguments":"{}"}`), end,
		}, calls(call{fresh, "f", "{}"}, call{fresh, "g", "{}"}, call{"42", "h", "{}"})},
		{"one id twice", []string{
			tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), tool(`"index":1,"id":"a","function":{"name":"f","arguments":"{}"}`), end,
		}, calls(call{"a", "f", "{}"}, call{fresh, "f", "{}"})},
		{
			"odd ids",
			[]string{tool(`"index":0,"id":"a b","function":{"name":"f","arguments":"{}"}`), tool(`"index":1,"id":"` + strings.Repeat("x", 200) + `","function":{"name":"f","arguments":"{}"}`), end},
			calls(call{fresh, "f", "{}"}, call{fresh, "f", "{}"}),
		},
		{"name repeated", []string{
			tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}`), tool(`"index":0,"id":"a","function":{"name":"f","arguments":":1}"}`), end,
		}, calls(call{"a", "f", `{"x":1}`})},
		{"name after the arguments", []string{
			tool(`"index":0,"id":"a","function":{"arguments":"{"}`), tool(`"index":0,"function":{"name":"f","arguments":"}"}`), end,
		}, calls(call{"a", "f", "{}"})},
		{"first name after the second", []string{
			tool(`"index":0,"id":"a","function":{"arguments":"{"}`), tool(`"index":1,"id":"b","function":{"name":"g","arguments":"{}"}`),
			tool(`"index":0,"function":{"name":"f","arguments":"}"}`), end,
		}, calls(call{"b", "g", "{}"}, call{"a", "f", "{}"})},
		{"whole call sent again", []string{
			tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}`), tool(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}`), end,
		}, calls(call{"a", "f", `{"x":1}`})},
		{"no name", []string{tool(`"index":0,"id":"a","function":{"arguments":"{}"}`), end}, calls(call{"a", "", "{}"})},
		{"arguments as an object", []string{tool(`"index":0,"id":"a","function":{"name":"f","arguments":{"x": [1, "ä"]}}`), end}, calls(call{"a", "f", `{"x":[1,"ä"]}`})},
		{"arguments null", []string{tool(`"index":0,"id":"a","function":{"name":"f","arguments":null}`), end}, calls(call{"a", "f", ""})},
		{"function_call", []string{event(`{"function_call":{"name":"f","arguments":"{"}}`, ""), event(`{"function_call":{"arguments":"}"}}`, "function_call"), done}, calls(call{fresh, "f", "{}"})},
		{"not streamed", []string{`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":{}}}]},"finish_reason":"tool_calls"}]}`}, calls(call{"a", "f", "{}"}, call{"b", "g", "{}"})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{Raw: tt.raw})
			got, err := ask(t.Context(), t, provider(t, s), request())
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range got.Calls {
				if i < len(tt.want.Calls) && tt.want.Calls[i].ID == fresh && strings.HasPrefix(c.ID, "call_") {
					got.Calls[i].ID = fresh
				}
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(answer{}, "Chunks"), cmpopts.EquateEmpty()); diff != "" {
				t.Error("(-want +got)\n", diff)
			}
		})
	}
}

func TestStream_Usage(t *testing.T) {
	tests := []struct {
		name, usage string
		want        *transcript.Usage
	}{
		{"plain", `{"prompt_tokens":10,"completion_tokens":5}`, &transcript.Usage{Input: 10, Output: 5}},
		{"cached and reasoning", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":30}}`, &transcript.Usage{Input: 20, CacheRead: 80, Output: 20, Reasoning: 30}},
		{"reasoning not within completion", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":30}}`, &transcript.Usage{Input: 100, Output: 5, Reasoning: 30}},
		{"cache written", `{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":10,"cache_write_tokens":20}}`, &transcript.Usage{Input: 70, CacheRead: 10, CacheWrite: 20, Output: 5}},
		{"cache hit", `{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":60}`, &transcript.Usage{Input: 40, CacheRead: 60, Output: 5}},
		{"more cached than sent", `{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":30}}`, &transcript.Usage{CacheRead: 10, Reasoning: 5}},
		{"details null", `{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":null}`, &transcript.Usage{Input: 10, Output: 5}},
		{"zeros", `{"prompt_tokens":0,"completion_tokens":0}`, nil},
		{"null", `null`, nil},
		{"of another type", `"many"`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{Text: "a", Usage: json.RawMessage(tt.usage)})
			got, err := ask(t.Context(), t, provider(t, s), request())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Usage); diff != "" {
				t.Error("(-want +got)\n", diff)
			}
		})
	}
	for name, raw := range map[string]string{
		"on each event": `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":10,"completion_tokens":1}}` + "\n" +
			`data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}` + "\n" + `data: {"usage":null,"choices":[]}` + "\n",
		"in the choice": `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":5}}]}` + "\n",
		"in x_groq":     `data: {"x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":5}},"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{Raw: []string{raw, done}})
			got, err := ask(t.Context(), t, provider(t, s), request())
			if diff := cmp.Diff(&transcript.Usage{Input: 10, Output: 5}, got.Usage); err != nil || diff != "" {
				t.Error(err, "(-want +got)\n", diff)
			}
		})
	}
}

func TestStream_Broken(t *testing.T) {
	begin := event(`{"content":"a"}`, "")
	tests := []struct {
		name        string
		step        modeltest.Step
		kind        model.ErrorKind
		interrupted bool
		want        string
	}{
		{"cut in the text", modeltest.Step{Text: "abc", Pieces: 3, Cut: 3}, model.Transient, true, "the answer was cut off"},
		{"cut in a call", modeltest.Step{Calls: []modeltest.Call{{Name: "f", Arguments: `{"a":1}`, Pieces: 3}}, Cut: 3}, model.Transient, true, "cut off"},
		{"cut before anything", modeltest.Step{Cut: -1}, model.Transient, false, "the connection was closed"},
		{"ended in the text", modeltest.Step{Text: "abc", Finish: "none", NoDone: true}, model.Transient, true, "ended the answer in the middle"},
		{"ended at once", modeltest.Step{Raw: []string{}}, model.Transient, false, "ended the answer before it began"},
		{"ended in an event", modeltest.Step{Raw: []string{begin, `data: {"choices":[{"del`}}, model.Transient, true, "not JSON"},
		{"not JSON", modeltest.Step{Raw: []string{begin, "data: {\"choices\":[}\n", done}}, model.Transient, true, "not JSON"},
		{"deep nesting", modeltest.Step{Raw: []string{`{"a":` + strings.Repeat("[", 1<<20)}}, model.Transient, false, "not JSON"},
		{"web page", modeltest.Step{Header: map[string]string{"Content-Type": "text/html"}, Body: "\n\n <!DOCTYPE html><html><title>Welcome</title></html>"}, model.Invalid, false, "a web page"},
		{"line without end", modeltest.Step{Raw: []string{"data: " + strings.Repeat("x", 20<<20)}}, model.Invalid, false, "too long"},
		{"data without end", modeltest.Step{Raw: []string{"data: {", strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 20)}}, model.Invalid, false, "too long"},
		{"calls without end", modeltest.Step{Raw: []string{strings.Repeat(event(`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`, ""), 300), done}}, model.Invalid, true, "too many tool calls"},
		{"error event", modeltest.Step{Raw: []string{begin, `data: {"error":{"message":"overloaded","type":"server_error"}}` + "\n"}}, model.Transient, true, "overloaded"},
		{"error with a code", modeltest.Step{Raw: []string{`data: {"error":{"message":"no","code":400}}` + "\n"}}, model.Invalid, false, "no"},
		{"error as a text", modeltest.Step{Raw: []string{`data: {"error":"boom"}` + "\n"}}, model.Transient, false, "boom"},
		{"error by its kind", modeltest.Step{Raw: []string{"event: error\ndata: {\"message\":\"boom\"}\n"}}, model.Transient, false, "boom"},
		{"error field", modeltest.Step{Raw: []string{begin, `error: {"code":500,"message":"boom"}` + "\n"}}, model.Transient, true, "boom"},
		{"error object", modeltest.Step{Raw: []string{`{"object":"error","message":"boom","code":400}`}}, model.Invalid, false, "boom"},
		{"error of the key", modeltest.Step{Raw: []string{`data: {"error":{"message":"bad key ` + canary + `","code":"invalid_api_key"}}` + "\n"}}, model.Auth, false, "bad key [redacted]"},
		{"error of the window", modeltest.Step{Raw: []string{`data: {"error":{"message":"x","code":"context_length_exceeded"}}` + "\n"}}, model.Overflow, false, "x"},
		{"error of the quota", modeltest.Step{Raw: []string{`data: {"error":{"message":"x","code":"insufficient_quota"}}` + "\n"}}, model.Auth, false, "x"},
		{"error as the reason", modeltest.Step{Raw: []string{event(`{"content":"a"}`, "error"), done}}, model.Transient, true, "broke the answer off"},
		{"silence in the text", modeltest.Step{Text: "abc", Pieces: 3, Stall: 3}, model.Transient, true, "silent for 50ms"},
		{"silence from the start", modeltest.Step{Stall: -1}, model.Transient, false, "silent for 50ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, tt.step)
			change := func(*openai.Options) {}
			if tt.step.Stall != 0 {
				change = short
			}
			a, err := ask(t.Context(), t, provider(t, s, change), request())
			var e *model.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %+v and %v", a, err)
			}
			if e.Kind != tt.kind || e.Interrupted != tt.interrupted || !strings.Contains(e.Message, tt.want) || strings.Contains(e.Error(), canary) {
				t.Errorf("got kind %d, interrupted %t, %q", e.Kind, e.Interrupted, e.Message)
			}
		})
	}
}

// A finish reason makes an answer complete, whatever becomes of the connection and whatever
// the server goes on to send.
func TestStream_CutAfterTheFinish(t *testing.T) {
	for name, step := range map[string]modeltest.Step{
		"cut":     {Text: "abc", Cut: 3},
		"silence": {Text: "abc", Stall: 3},
		"no end":  {Raw: []string{event(`{"content":"abc"}`, "stop"), done}, Stall: 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.New(t, step)
			a, err := ask(t.Context(), t, provider(t, s, func(o *openai.Options) { o.IdleTimeout, o.StartTimeout = 50*time.Millisecond, time.Minute }), request())
			if err != nil || a.Text != "abc" || a.Reason != model.Stop {
				t.Errorf("got %+v and %v", a, err)
			}
		})
	}
}

// Text that a server goes on to send after its finish does not keep the answer open.
func TestStream_TextAfterTheFinish(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "%s\n", event(`{"content":"abc"}`, "stop"))
		for r.Context().Err() == nil {
			fmt.Fprintf(w, "%s\n", event(`{"content":"."}`, ""))
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	a, err := ask(t.Context(), t, provider(t, modeltest.New(t, modeltest.Step{}), func(o *openai.Options) {
		o.BaseURL, o.IdleTimeout = server.URL, 50*time.Millisecond
	}), request())
	if err != nil || !strings.HasPrefix(a.Text, "abc") || a.Reason != model.Stop {
		t.Errorf("got a text of %d bytes, reason %v and %v", len(a.Text), a.Reason, err)
	}
}

func TestStream_LongLine(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	s := modeltest.New(t, modeltest.Step{Raw: []string{event(`{"content":"`+long+`"}`, "stop"), done}})
	a, err := ask(t.Context(), t, provider(t, s), request())
	if err != nil || a.Text != long {
		t.Errorf("got %d bytes and %v", len(a.Text), err)
	}
}

func TestStream_ManyPieces(t *testing.T) {
	args := `{"content":"` + strings.Repeat("äx", 5000) + `"}`
	s := modeltest.New(t, modeltest.Step{Calls: []modeltest.Call{{Name: "write", Arguments: args, Pieces: 10000}}})
	a, err := ask(t.Context(), t, provider(t, s), request())
	if err != nil || len(a.Calls) != 1 || a.Calls[0].Arguments != args {
		t.Errorf("got %d calls and %v", len(a.Calls), err)
	}
}

func TestStream_ThinkTags(t *testing.T) {
	for _, text := range []string{
		"<think>hm\nhm</think>\n\nanswer <think>x</think>",
		" \n<think>\nhm\nhm</think>answer <think>x</think>",
	} {
		for _, pieces := range []int{1, 3, 7, len([]rune(text))} {
			s := modeltest.New(t, modeltest.Step{Text: text, Pieces: pieces})
			a, err := ask(t.Context(), t, provider(t, s), request())
			if err != nil || a.Reasoning != "hm\nhm" || a.Text != "answer <think>x</think>" {
				t.Errorf("%d pieces of %q: reasoning %q, text %q, %v", pieces, text, a.Reasoning, a.Text, err)
			}
		}
	}
	for text, want := range map[string][2]string{
		"<thin":            {"", "<thin"},
		"<think>hm</thi":   {"hm</thi", ""},
		"a <think>b":       {"", "a <think>b"},
		"<think></think>a": {"", "a"},
	} {
		s := modeltest.New(t, modeltest.Step{Text: text, Pieces: len(text)})
		a, err := ask(t.Context(), t, provider(t, s), request())
		if err != nil || a.Reasoning != want[0] || a.Text != want[1] {
			t.Errorf("%q: reasoning %q, text %q, %v", text, a.Reasoning, a.Text, err)
		}
	}
}

func TestStream_Cancel(t *testing.T) {
	for name, step := range map[string]modeltest.Step{
		"in the text":      {Text: "abc", Pieces: 3, Stall: 3},
		"before the first": {Stall: -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.New(t, step)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := ask(ctx, t, provider(t, s), request())
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	t.Run("before the request", func(t *testing.T) {
		s := modeltest.New(t, modeltest.Step{Text: "a"})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := ask(ctx, t, provider(t, s), request()); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// Breaking out of the loop ends the request on the server too.
func TestStream_Break(t *testing.T) {
	s := modeltest.New(t)
	gone := make(chan struct{})
	s.Handle("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(event(`{"content":"a"}`, "")))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	for range provider(t, s).Stream(t.Context(), request()) {
		break
	}
	<-gone
}

// Steps that end well use one connection.
func TestStream_ConnectionIsKept(t *testing.T) {
	s := modeltest.New(t, modeltest.Step{Text: "abc", Pieces: 3, Repeat: 3})
	p := provider(t, s)
	conns := map[string]bool{}
	for range 3 {
		if _, err := ask(t.Context(), t, p, request()); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.Requests() {
		conns[r.Conn] = true
	}
	if len(conns) != 1 {
		t.Errorf("%d connections for 3 steps", len(conns))
	}
}
