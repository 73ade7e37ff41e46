package responses_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"acp-agent/internal/testkit/responsestest"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/model/responses"
	"acp-agent/transcript"
)

// What a conversation may hold, in the form that the API wants.
func TestRequest_Items(t *testing.T) {
	picture := transcript.ImagePart{MediaType: "image/png", Data: "aGk="}
	call := func(id, input string, state transcript.State, images ...transcript.ImagePart) *transcript.ToolPart {
		return &transcript.ToolPart{CallID: id, Name: "read", Input: input, State: state, Text: "r", Images: images}
	}
	user := func(parts ...transcript.Part) *transcript.Message {
		return &transcript.Message{Role: transcript.User, Parts: parts, Finished: true}
	}
	said := func(parts ...transcript.Part) *transcript.Message {
		return &transcript.Message{Role: transcript.Assistant, Parts: parts, Finished: true, Origin: "chat https://elsewhere.example m reasoning"}
	}
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name     string
		messages []*transcript.Message
		want     string
	}{
		{"a picture", []*transcript.Message{user(text("look"), &picture, text(" "))}, "user[input_text input_image]"},
		{"a picture of a kind that is not taken", []*transcript.Message{user(&transcript.ImagePart{MediaType: "image/tiff", Data: "aGk="})}, "user[input_text]"},
		{"a picture in a result", []*transcript.Message{user(text("a")), said(call("c", `{}`, transcript.Done, picture))}, "user[input_text] call(c) output(c)[input_text input_image]"},
		{"a picture in an error", []*transcript.Message{user(text("a")), said(call("c", `{}`, transcript.Failed, picture))}, "user[input_text] call(c) output(c)[input_text input_image]"},
		{"a call that was cut", []*transcript.Message{user(text("a")), said(call("c", `{"path":"`, transcript.Failed)), user(text("b"))}, "user[input_text] call(c) output(c) user[input_text]"},
		{"two calls, one interrupted", []*transcript.Message{user(text("a")), said(text("x"), call("c1", `{ "a" : 1 }`, transcript.Rejected), call("", "[1]", transcript.InProgress))}, "user[input_text] assistant call(c1) call(call) output(c1) output(call)"},
		{"a long id", []*transcript.Message{user(text("a")), said(call(long, `{}`, transcript.Done))}, "user[input_text] call(call_09ecb6ebc8bcefc733f6f2ec44f791ab) output(call_09ecb6ebc8bcefc733f6f2ec44f791ab)"},
		{"another's thoughts", []*transcript.Message{user(text("a")), said(&transcript.ReasoningPart{Text: "t", Replay: json.RawMessage(`{"type":"reasoning","id":"rs_0","encrypted_content":"x"}`)}, text("x")), user(text("b"))}, "user[input_text] assistant user[input_text]"},
		{"thoughts alone", []*transcript.Message{user(text("a")), said(&transcript.ReasoningPart{Text: "t"}), user(text("b"))}, "user[input_text] user[input_text]"},
		{"the agent's own", []*transcript.Message{user(text("a")), said(text("x")), {Role: transcript.Assistant, Synthetic: true, Finished: true, Parts: []transcript.Part{text("done")}}, user(text("b"))}, "user[input_text] assistant user[input_text] user[input_text]"},
		{"an answer at the end", []*transcript.Message{user(text("a")), said(text("half"))}, "user[input_text] assistant"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := responsestest.New(t, responsestest.Step{Text: "ok"}, responsestest.Step{Text: "ok"})
			k := newTalk(t, s)
			for range 2 { // the second time from the memo
				k.req.Messages = tt.messages
				k.must()
			}
			check(t, s)
			for _, x := range s.Exchanges() {
				if got := shape(t, x.Body); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			}
		})
	}
}

// shape is the items of a request in short.
func shape(t *testing.T, body []byte) string {
	t.Helper()
	var r struct {
		Input []struct {
			Type, Role      string
			CallID          string `json:"call_id"`
			Content, Output json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	types := func(raw json.RawMessage) string {
		var parts []struct{ Type string }
		if json.Unmarshal(raw, &parts) != nil {
			return ""
		}
		var list []string
		for _, p := range parts {
			list = append(list, p.Type)
		}
		return "[" + strings.Join(list, " ") + "]"
	}
	var list []string
	for _, item := range r.Input {
		switch item.Type {
		case "message":
			list = append(list, item.Role+types(item.Content))
		case "function_call":
			list = append(list, "call("+item.CallID+")")
		case "function_call_output":
			list = append(list, "output("+item.CallID+")"+types(item.Output))
		default:
			list = append(list, item.Type)
		}
	}
	return strings.Join(list, " ")
}

// own is a request to a server that is told by its address alone; the body is what would be
// sent.
func own(t *testing.T, replay ...transcript.Part) string {
	t.Helper()
	s := responsestest.New(t, responsestest.Step{Text: "ok"})
	s.Lenient = true
	k := newTalk(t, s)
	k.req.Messages = []*transcript.Message{
		{Role: transcript.User, Finished: true, Parts: []transcript.Part{text("a")}},
		{Role: transcript.Assistant, Finished: true, Origin: "responses " + s.URL + " gpt-test-9", Parts: replay},
	}
	k.must()
	body := string(s.Exchanges()[0].Body)
	_, input, _ := strings.Cut(body, `{"type":"input_text","text":"a"}]},`)
	return strings.TrimSuffix(input, "]}")
}

// What other servers want back, and what the API takes of what they sent.
func TestRequest_Replay(t *testing.T) {
	thought := func(format string, values ...any) transcript.Part {
		return &transcript.ReasoningPart{Text: "t", Replay: json.RawMessage(fmt.Sprintf(format, values...))}
	}
	done := &transcript.ToolPart{CallID: "ours", Name: "read", Input: `{"a": 1}`, State: transcript.Done, Text: "r", Replay: json.RawMessage(`{"type":"function_call","id":"fc_1","call_id":"theirs"}`)}
	blob := strings.Repeat("x", 400)
	for _, tt := range []struct {
		name  string
		parts []transcript.Part
		want  string
	}{
		{
			"a call with its thoughts",
			[]transcript.Part{thought(`{"type":"reasoning","id":"rs_1","summary":[ ],"encrypted_content":"e<"}`), done},
			`{"type":"reasoning","id":"rs_1","summary":[ ],"encrypted_content":"e<"},{"type":"function_call","id":"fc_1","call_id":"theirs","name":"read","arguments":"{\"a\": 1}"},{"type":"function_call_output","call_id":"theirs","output":"r"}`,
		},
		{ // models with open weights
			"thoughts as they are",
			[]transcript.Part{thought(`{"type":"reasoning","id":"x","content":[{"type":"reasoning_text","text":"t"}]}`), text("w"), thought(`{"type":"message","id":"msg_1","phase":"p"}`)},
			`{"type":"reasoning","id":"x","content":[{"type":"reasoning_text","text":"t"}]},{"type":"message","role":"assistant","phase":"p","id":"msg_1","status":"completed","content":[{"type":"output_text","annotations":[],"text":"w"}]}`,
		},
		{
			"thoughts that are stored elsewhere",
			[]transcript.Part{thought(`{"type":"reasoning","id":"rs_1","summary":[]}`), done},
			`{"type":"function_call","call_id":"theirs","name":"read","arguments":"{\"a\": 1}"},{"type":"function_call_output","call_id":"theirs","output":"r"}`,
		},
		{
			"thoughts that nothing follows",
			[]transcript.Part{text("w"), thought(`{"type":"message","id":"msg_1"}`), thought(`{"type":"reasoning","id":"rs_1","encrypted_content":"e"}`), text("half")},
			`{"type":"message","role":"assistant","content":"w"},{"type":"message","role":"assistant","content":"half"}`,
		},
		{
			"ids that are none",
			[]transcript.Part{thought(`{"type":"reasoning","id":"%s","summary":[],"encrypted_content":"e"}`, blob), done},
			`{"type":"reasoning","summary":[],"encrypted_content":"e"},{"type":"function_call","call_id":"theirs","name":"read","arguments":"{\"a\": 1}"},{"type":"function_call_output","call_id":"theirs","output":"r"}`,
		},
		{
			"a tool of the server's own",
			[]transcript.Part{thought(`{"type":"web_search_call","id":"ws_1","status":"completed"}`), text("w"), thought(`{"type":"message","id":"msg_1"}`)},
			`{"type":"web_search_call","id":"ws_1","status":"completed"},{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","annotations":[],"text":"w"}]}`,
		},
		{
			"of a later version", []transcript.Part{thought(`["?"]`), text("w")}, `{"type":"message","role":"assistant","content":"w"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := own(t, tt.parts...); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The configuration may add to the body, and replace what is not ours alone.
func TestRequest_ExtraBody(t *testing.T) {
	s := responsestest.New(t, responsestest.Step{Text: "ok"})
	p, err := responses.New(chat(t, s, func(o *openai.Options) {
		o.ExtraBody = map[string]any{"service_tier": "flex", "reasoning": map[string]string{"effort": "high"}}
	}))
	if err != nil {
		t.Fatal(err)
	}
	k := newTalk(t, s)
	k.provider = p
	k.says(text("go"))
	k.must()
	check(t, s)
	if body := string(s.Exchanges()[0].Body); !strings.Contains(body, `"service_tier":"flex"`) || strings.Count(body, `"reasoning":{"effort":"high"}`) != 1 {
		t.Errorf("got %s", body)
	}
	_, err = responses.New(chat(t, s, func(o *openai.Options) { o.ExtraBody = map[string]any{"input": "x"} }))
	if err == nil || !strings.Contains(err.Error(), "input") {
		t.Errorf("got %v", err)
	}
}

// A request is not made once the conversation is cancelled, and ends when its consumer does.
func TestStream_Break(t *testing.T) {
	s := responsestest.New(t, responsestest.Step{Thoughts: []string{"t"}, Text: "a long text"})
	k := newTalk(t, s)
	k.says(text("go"))
	for c, err := range k.provider.Stream(t.Context(), k.req) {
		if err != nil || c.Kind != model.Reasoning {
			t.Errorf("got %v, %v", c, err)
		}
		break
	}
	check(t, s)
}
