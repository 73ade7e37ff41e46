package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/transcript"
)

// What is sent of a message's reasoning depends on who wrote it, and on what there is of it.
func TestRequest_Reasoning(t *testing.T) {
	call := func(replay string) *transcript.ToolPart {
		return &transcript.ToolPart{
			CallID: "1", Name: "read", State: transcript.Cancelled, Text: "cancelled", Result: &transcript.Envelope{Type: transcript.Error},
			Replay: json.RawMessage(replay),
		}
	}
	thought := func(text, replay string) *transcript.ReasoningPart {
		return &transcript.ReasoningPart{Text: text, Replay: json.RawMessage(replay)}
	}
	text := &transcript.TextPart{Text: "a"}
	const own, extra = "chat https://api.deepseek.com m ", `{"extra_content":{"google":{"thought_signature":"s"}}}`
	tests := []struct {
		name, base, origin string
		parts              []transcript.Part
		want               string // the members besides role, id and function
	}{
		{"own", "https://api.deepseek.com/", own + "reasoning_content", []transcript.Part{thought("h", ""), text, thought("m", "")}, `{"content":"a","reasoning_content":"hm"}`},
		{"own, cut off in a call", "https://api.deepseek.com", own + "reasoning_content", []transcript.Part{thought("h", ""), call("")}, `{"content":null,"reasoning_content":"h","tool_calls":[{}]}`},
		{"own without any", "https://api.deepseek.com", own + "none", []transcript.Part{text}, `{"content":"a","reasoning_content":""}`},
		{"of another model", "https://api.deepseek.com", "chat https://api.deepseek.com m2 reasoning_content", []transcript.Part{thought("h", ""), text}, `{"content":"a","reasoning_content":""}`},
		{"of another server", "http://localhost/v1", own + "reasoning_content", []transcript.Part{thought("h", extra), call(extra)}, `{"content":null,"tool_calls":[{}]}`},
		{"of no one known", "http://localhost/v1", "", []transcript.Part{thought("h", extra), call(extra)}, `{"content":null,"tool_calls":[{}]}`},
		{"of another API", "http://localhost/v1", "messages http://localhost/v1 m thinking", []transcript.Part{thought("h", `{"signature":"x"}`), text}, `{"content":"a"}`},
		{"in a field that we do not know", "http://localhost/v1", "chat http://localhost/v1 m telepathy", []transcript.Part{thought("h", ""), text}, `{"content":"a"}`},
		{"details", "http://localhost/v1", "chat http://localhost/v1 m reasoning_details", []transcript.Part{thought("h", ""), text, thought("", `{"reasoning_details":[{"a":"<&>"}]}`)}, `{"content":"a","reasoning_details":[{"a":"<&>"}]}`},
		{"details that were cut off", "http://localhost/v1", "chat http://localhost/v1 m reasoning_details", []transcript.Part{thought("h", ""), text}, `{"content":"a"}`},
		{"data of a later version", "http://localhost/v1", "chat http://localhost/v1 m reasoning", []transcript.Part{thought("h", `7`), text}, `{"content":"a","reasoning":"h"}`},
		{"tags", "http://localhost/v1", "chat http://localhost/v1 m tags", []transcript.Part{thought("h", `{"tags":["<think>","</think>\n"]}`), text}, `{"content":"<think>h</think>\na"}`},
		{"tags that were cut off", "http://localhost/v1", "chat http://localhost/v1 m tags", []transcript.Part{thought("h", ""), call("")}, `{"content":null,"tool_calls":[{}]}`},
		{"a signature of the message", "http://localhost/v1", "chat http://localhost/v1 m none", []transcript.Part{text, thought("", extra)}, `{"content":"a","extra_content":{"google":{"thought_signature":"s"}}}`},
		{"a signature of a call", "http://localhost/v1", "chat http://localhost/v1 m none", []transcript.Part{call(extra)}, `{"content":null,"tool_calls":[{"extra_content":{"google":{"thought_signature":"s"}}}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewStrict(t, modeltest.Rule{Deltas: func(int) []string { return nil }}, 0)
			p, err := openai.New(openai.Options{BaseURL: tt.base, Transport: s.Transport()})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			m := &transcript.Message{Role: transcript.Assistant, Finished: true, Origin: tt.origin, Parts: tt.parts}
			for range p.Stream(t.Context(), &model.Request{Model: "m", Messages: []*transcript.Message{user("q"), m}}) {
			}
			sent := messages(t, s.Requests()[0]).([]any)[1].(map[string]any)
			delete(sent, "role")
			calls, _ := sent["tool_calls"].([]any)
			for _, one := range calls {
				for _, name := range []string{"id", "type", "function"} {
					delete(one.(map[string]any), name)
				}
			}
			if diff := cmp.Diff(parse(t, tt.want), any(sent)); diff != "" {
				t.Error("(-want +got)\n", diff)
			}
		})
	}
}

// What a server sent beyond text is kept as it was, with who sent it and in which field.
func TestStream_Replay(t *testing.T) {
	type block struct{ Text, Replay, Origin string }
	tests := []struct {
		name  string
		raw   []string
		want  []block
		calls []string
	}{
		{"plain text", []string{event(`{"content":"a"}`, "stop")}, nil, nil},
		{"a field", []string{event(`{"reasoning":"h"}`, ""), event(`{"reasoning":"m","content":"a"}`, "stop")}, []block{{"h", "", "reasoning"}, {"m", "", "reasoning"}}, nil},
		{
			"details",
			[]string{
				event(`{"reasoning_details":[{"type":"reasoning.text","text":"h","index":0,"format":null},{"type":"reasoning.text","text":"x","index":1}]}`, ""),
				event(`{"content":"a","reasoning_details":[{"type":"reasoning.text","text":"m","index":0,"signature":"<s>"},{"type":"new","n":1.50}]}`, "stop"),
			},
			[]block{
				{"hx", "", "reasoning_details"},
				{"m", "", "reasoning_details"},
				{"", `{"reasoning_details":[{"type":"reasoning.text","text":"hm","index":0,"format":null,"signature":"<s>"},{"type":"reasoning.text","text":"x","index":1},{"type":"new","n":1.50}]}`, "reasoning_details"},
			},
			nil,
		},
		{
			"blocks without an index, of one event and of two",
			[]string{
				event(`{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.text","text":"b"}]}`, ""),
				event(`{"reasoning_details":[{"type":"reasoning.text","text":"c"}]}`, "stop"),
			},
			[]block{{"ab", "", "reasoning_details"}, {"c", "", "reasoning_details"}, {"", `{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.text","text":"bc"}]}`, "reasoning_details"}},
			nil,
		},
		{
			"a signature without an index, and a text without a signature",
			[]string{
				event(`{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"format":"anthropic-claude-v1"}]}`, ""),
				event(`{"reasoning_details":[{"type":"reasoning.text","signature":"s","format":"anthropic-claude-v1"}]}`, ""),
				event(`{"reasoning_details":[{"type":"reasoning.text","text":"b","index":1,"format":"anthropic-claude-v1"}]}`, "length"),
			},
			[]block{
				{"a", "", "reasoning_details"},
				{"b", "", "reasoning_details"},
				{"", `{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"format":"anthropic-claude-v1","signature":"s"}]}`, "reasoning_details"},
			},
			nil,
		},
		{"tags that a field mirrors", []string{event(`{"reasoning_content":"h","content":"<think>h"}`, ""), event(`{"reasoning_content":"m","content":"m</think>"}`, ""), event(`{"content":"\na"}`, "stop")}, []block{
			{"h", "", "reasoning_content"}, {"m", "", "tags"}, {"", `{"tags":["<think>","</think>\n"]}`, "tags"},
		}, nil},
		{"details of no use", []string{event(`{"content":"a","reasoning_details":[7,"x",[]]}`, ""), event(`{"reasoning_details":{"a":1}}`, "stop")}, nil, nil},
		{"tags", []string{event(`{"content":" <think>\n"}`, ""), event(`{"content":"hm</think>\n"}`, ""), event(`{"content":"\na"}`, "stop")}, []block{
			{"hm", "", "tags"}, {"", `{"tags":[" <think>\n","</think>\n\n"]}`, "tags"},
		}, nil},
		{"tags without a text", []string{event(`{"content":"<think>hm</think>"}`, "stop")}, []block{{"hm", "", "tags"}, {"", `{"tags":["<think>","</think>"]}`, "tags"}}, nil},
		{"a tag that stays open", []string{event(`{"content":"<think>hm"}`, "length")}, []block{{"hm", "", "tags"}}, nil},
		{
			"signatures",
			[]string{
				event(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"<s>"}}}]}`, ""),
				event(`{"tool_calls":[{"index":1,"function":{"name":"g","arguments":"{}"}}]}`, ""),
				event(`{"tool_calls":[{"index":1,"extra_content":{"google":{"thought_signature":"t"}}}],"extra_content":{"google":{"thought":true}}}`, ""),
				event(`{"content":"","extra_content":{"google":{"thought_signature":"u"}}}`, "tool_calls"),
			},
			[]block{{"", `{"extra_content":{"google":{"thought_signature":"u"}}}`, "none"}},
			[]string{`{"extra_content":{"google":{"thought_signature":"<s>"}}}`, `{"extra_content":{"google":{"thought_signature":"t"}}}`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{Raw: append(tt.raw, done)})
			p := provider(t, s)
			var got []block
			calls := make([]string, len(tt.calls))
			prefix, last := "chat "+s.URL+" fake ", ""
			for c, err := range p.Stream(t.Context(), request()) {
				if err != nil {
					t.Fatal(err)
				}
				field, own := strings.CutPrefix(c.Origin, prefix)
				if own != (c.Kind == model.Reasoning || c.Kind == model.Finish || c.Replay != nil) {
					t.Errorf("a chunk of kind %d has the origin %q", c.Kind, c.Origin)
				}
				switch {
				case c.Kind == model.Reasoning:
					got, last = append(got, block{c.Text, string(c.Replay), field}), field
				case c.Kind == model.ToolCall && c.Replay != nil:
					calls[c.Index] = string(c.Replay)
				case c.Kind == model.Finish && last != "" && field != last:
					t.Errorf("the finish has the origin %q", c.Origin)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error("(-want +got)\n", diff)
			}
			if diff := cmp.Diff(tt.calls, calls); diff != "" && len(calls) > 0 {
				t.Error("calls (-want +got)\n", diff)
			}
		})
	}
}

// What a server says of a rule is understood once; what it says of anything else is not
// taken for one.
func TestRequest_RulesAreLearned(t *testing.T) {
	const bad = `{"error":{"message":"%"}}`
	refusal := func(message string) modeltest.Step {
		return modeltest.Step{Status: 400, Body: strings.ReplaceAll(bad, "%", message)}
	}
	m := &transcript.Message{Role: transcript.Assistant, Finished: true, Parts: []transcript.Part{
		&transcript.ReasoningPart{Text: "hm"}, &transcript.TextPart{Text: "a"},
	}}
	tests := []struct {
		name, message string
		tries         int
		last          string // what the last request has
	}{
		{"unsupported", "property 'reasoning_content' is unsupported", 2, `"content":"a"}`},
		{"missing", "Missing reasoning_content field in the assistant message at message index 2", 3, `"reasoning_content":"hm"`},
		{"missing, as MiMo says it", `Param Incorrect","param":"The reasoning_content in the thinking mode must be passed back to the API.`, 3, `"reasoning_content":"hm"`},
		{"another member is missing", "tools: name is missing", 1, ""},
		{"another parameter", "reasoning_effort is not supported", 1, ""},
		{"a field that was not sent", "reasoning_details is not supported", 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t)
			for range tt.tries {
				s.Add(refusal(tt.message))
			}
			if tt.name == "unsupported" {
				s = modeltest.New(t, refusal(tt.message), modeltest.Step{Text: "well", Repeat: 2})
			}
			p := provider(t, s)
			own := *m
			own.Origin = "chat " + s.URL + " fake reasoning_content"
			_, err := ask(t.Context(), t, p, request(user("q"), &own))
			requests := s.Requests()
			if len(requests) != tt.tries || (err == nil) != (tt.name == "unsupported") {
				t.Fatalf("%d requests, %v", len(requests), err)
			}
			if body := string(requests[len(requests)-1].Body); !strings.Contains(body, tt.last) {
				t.Errorf("the last is %s", body)
			}
			if err == nil {
				if _, err := ask(t.Context(), t, p, request(user("q"), &own)); err != nil || len(s.Requests()) != tt.tries+1 {
					t.Errorf("it is not remembered: %v", err)
				}
			}
		})
	}
}
