package openai_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/transcript"
)

// messages returns the messages of a recorded request, system prompt and all.
func messages(t *testing.T, r modeltest.Request) any {
	t.Helper()
	var body struct{ Messages any }
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	return body.Messages
}

func parse(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestRequest_Messages(t *testing.T) {
	const png = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`
	image := transcript.ImagePart{MediaType: "image/png", Data: "AAAA"}
	text := func(s string) *transcript.TextPart { return &transcript.TextPart{Text: s} }
	said := func(parts ...transcript.Part) *transcript.Message {
		return &transcript.Message{Role: transcript.User, Finished: true, Parts: parts}
	}
	answered := func(parts ...transcript.Part) *transcript.Message {
		return &transcript.Message{Role: transcript.Assistant, Finished: true, Parts: parts}
	}
	noted := func(parts ...transcript.Part) *transcript.Message {
		return &transcript.Message{Role: transcript.Assistant, Synthetic: true, Finished: true, Parts: parts}
	}
	result := &transcript.Envelope{Type: transcript.Output}
	tests := []struct {
		name     string
		images   bool
		messages []*transcript.Message
		want     string
	}{
		{
			"text in whose place something else is read", true,
			[]*transcript.Message{said(&transcript.TextPart{Text: "/mcp:s:p", Replaced: true}, &transcript.TextPart{Text: "made of it", Synthetic: true})},
			`[{"role":"user","content":"made of it"}]`,
		},
		{
			"texts", true,
			[]*transcript.Message{said(text("a <b> & \"c\"\n\x01\xff")), answered(text("b")), said(text("c"), text("d"))},
			`[{"role":"user","content":"a <b> & \"c\"\n\u0001\ufffd"},{"role":"assistant","content":"b"},{"role":"user","content":"c\n\nd"}]`,
		},
		{
			"synthetic text stands apart", true,
			[]*transcript.Message{said(&transcript.TextPart{Text: "note", Synthetic: true}, text("a"))},
			`[{"role":"user","content":"note\n\na"}]`,
		},
		{
			"what the agent itself says is not the model's", true,
			[]*transcript.Message{answered(text("a")), {Role: transcript.Assistant, Synthetic: true, Finished: true, Parts: []transcript.Part{text("It has ended.")}}, said(text("b"))},
			`[{"role":"assistant","content":"a"},{"role":"user","content":"[Note from the agent, not from the user]\nIt has ended."},{"role":"user","content":"b"}]`,
		},
		{
			"mention and resource", true,
			[]*transcript.Message{said(text("see "), &transcript.LinkPart{URI: "file:///w/a.go", Name: "a.go"}, text(" and"),
				&transcript.ResourcePart{URI: "file:///w/b", Text: "body"}, text("please"))},
			`[{"role":"user","content":"see [@a.go](file:///w/a.go) and\n\n<resource uri=\"file:///w/b\">\nbody\n</resource>\n\nplease"}]`,
		},
		{
			"image", true,
			[]*transcript.Message{said(text("what is "), &image, text("?"))},
			`[{"role":"user","content":[{"type":"text","text":"what is "},` + png + `,{"type":"text","text":"?"}]}]`,
		},
		{
			"image that the model does not take", false,
			[]*transcript.Message{said(text("what is"), &image)},
			`[{"role":"user","content":"what is\n\n[image omitted: this model takes no images]"}]`,
		},
		{"what the agent said itself", true, []*transcript.Message{
			said(text("a")),
			answered(
				text("b"),
				&transcript.ToolPart{CallID: "1", Name: "task", State: transcript.Done, Result: result, Text: "accepted"},
			),
			noted(text("explore has "), text("ended")),
			answered(text("c")), noted(text("fix has ended")), noted(text(" ")), said(text("d")),
		}, `[{"role":"user","content":"a"},
			{"role":"assistant","content":"b","tool_calls":[{"id":"1","type":"function","function":{"name":"task","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"1","content":"accepted"},
			{"role":"user","content":"[Note from the agent, not from the user]\nexplore has ended"},
			{"role":"assistant","content":"c"},
			{"role":"user","content":"[Note from the agent, not from the user]\nfix has ended"},
			{"role":"user","content":"d"}]`},
		{"reasoning is not sent, empty answers are left out", true, []*transcript.Message{
			said(text("a")), answered(&transcript.ReasoningPart{Text: "hm"}), answered(text(" \n")), answered(&transcript.ReasoningPart{Text: "hm"}, text("b")),
		}, `[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`},
		{
			"calls", true,
			[]*transcript.Message{answered(text("I look."),
				&transcript.ToolPart{CallID: "1", Name: "read", Input: `{"a": 1}`, State: transcript.Done, Result: result, Text: "one"},
				&transcript.ToolPart{CallID: "2", Name: "no such.tool", Input: `{"a`, State: transcript.Failed, Result: &transcript.Envelope{ErrorText: "bad"}},
				&transcript.ToolPart{CallID: "3", Input: `[1]`, State: transcript.Done, Result: result},
				&transcript.ToolPart{CallID: "4", Name: "bash", State: transcript.InProgress})},
			`[{"role":"assistant","content":"I look.","tool_calls":[
				{"id":"1","type":"function","function":{"name":"read","arguments":"{\"a\": 1}"}},
				{"id":"2","type":"function","function":{"name":"no_such_tool","arguments":"{}"}},
				{"id":"3","type":"function","function":{"name":"unknown","arguments":"{}"}},
				{"id":"4","type":"function","function":{"name":"bash","arguments":"{}"}}]},
			  {"role":"tool","tool_call_id":"1","content":"one"},
			  {"role":"tool","tool_call_id":"2","content":"bad"},
			  {"role":"tool","tool_call_id":"3","content":"(no output)"},
			  {"role":"tool","tool_call_id":"4","content":"This call was interrupted; it has no result, and its effects are unknown."}]`,
		},
		{
			"images of results", true,
			[]*transcript.Message{answered(
				&transcript.ToolPart{CallID: "1", Name: "read", State: transcript.Done, Result: result, Text: "an image", Images: []transcript.ImagePart{image}},
				&transcript.ToolPart{CallID: "2", Name: "read", State: transcript.Done, Result: result, Text: "a text"})},
			`[{"role":"assistant","content":null,"tool_calls":[
				{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"read","arguments":"{}"}}]},
			  {"role":"tool","tool_call_id":"1","content":"an image"},{"role":"tool","tool_call_id":"2","content":"a text"},
			  {"role":"user","content":[{"type":"text","text":"Image 1 from the result of read (1):"},` + png + `]}]`,
		},
		{
			"images of results that the model does not take", false,
			[]*transcript.Message{answered(
				&transcript.ToolPart{CallID: "1", Name: "read", State: transcript.Done, Result: result, Text: "an image", Images: []transcript.ImagePart{image}})},
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}]},
			  {"role":"tool","tool_call_id":"1","content":"an image\n[image omitted: this model takes no images]"}]`,
		},
		{"nothing", true, nil, `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{})
			p := provider(t, s, func(o *openai.Options) { o.Images = map[string]bool{"fake": tt.images} })
			if _, err := ask(t.Context(), t, p, &model.Request{Model: "fake", Messages: tt.messages}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parse(t, tt.want), messages(t, s.Requests()[0])); diff != "" {
				t.Error("(-want +got)\n", diff)
			}
		})
	}
}

func TestRequest_Body(t *testing.T) {
	s := modeltest.New(t, modeltest.Step{Repeat: 2})
	p := provider(t, s, func(o *openai.Options) {
		o.ExtraBody = map[string]any{"top_k": 5, "temperature": 1}
		o.Headers = map[string]string{"X-Team": "blue"}
		o.PromptCacheKey, o.Version = true, "1.2"
		o.BaseURL += "/?api-version=7"
	})
	temperature := 0.2
	req := request()
	req.Temperature, req.MaxTokens, req.ThoughtLevel, req.CacheKey = &temperature, 4000, "low", "ses_1"
	req.Tools = []model.Tool{{Name: "read", Description: "Read.", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "odd"}}
	if _, err := ask(t.Context(), t, p, req); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	want := `{"model":"fake","stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"low","prompt_cache_key":"ses_1","max_tokens":4000,
		"temperature":1,"top_k":5,"tools":[{"type":"function","function":{"name":"read","description":"Read.","parameters":{"type":"object"}}},
		{"type":"function","function":{"name":"odd","description":"","parameters":{"type":"object","properties":{}}}}],
		"messages":[{"role":"system","content":"be good"},{"role":"user","content":"hello"}]}`
	if diff := cmp.Diff(parse(t, want), parse(t, string(got.Body))); diff != "" {
		t.Error("(-want +got)\n", diff)
	}
	if got.Path != "/v1/chat/completions" || got.Query != "api-version=7" || got.Header.Get("User-Agent") != "acp-agent/1.2" ||
		got.Header.Get("X-Team") != "blue" || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s?%s with %v", got.Path, got.Query, got.Header)
	}
	for name := range got.Header {
		if strings.HasPrefix(name, "X-Stainless") || name == "Openai-Organization" || name == "Openai-Project" {
			t.Errorf("header %s was sent", name)
		}
	}

	// What is not asked for is not sent.
	if _, err := ask(t.Context(), t, provider(t, s), &model.Request{Model: "fake"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parse(t, `{"model":"fake","stream":true,"stream_options":{"include_usage":true},"messages":[]}`), parse(t, string(s.Requests()[1].Body))); diff != "" {
		t.Error("(-want +got)\n", diff)
	}
}

// Only Options count: what the official client reads of the environment must
// not reach the wire (SECURITY T3).
func TestRequest_EnvironmentIsNotRead(t *testing.T) {
	other := modeltest.New(t)
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-from-the-environment", "OPENAI_ADMIN_KEY": "sk-from-the-environment", "OPENAI_BASE_URL": other.URL,
		"OPENAI_ORG_ID": "org", "OPENAI_PROJECT_ID": "project", "OPENAI_CUSTOM_HEADERS": "X-Custom: 1",
	} {
		t.Setenv(name, value)
	}
	s := modeltest.New(t, modeltest.Step{Repeat: -1})
	p := provider(t, s, func(o *openai.Options) { o.APIKey = "" })
	if _, err := ask(t.Context(), t, p, request()); err != nil {
		t.Fatal(err)
	}
	s.HandleJSON("/v1/models", `{"data":[]}`)
	if _, err := p.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(other.Requests()) != 0 {
		t.Error("the environment's server was asked")
	}
	for _, r := range s.Requests() {
		for _, name := range []string{"Authorization", "Openai-Organization", "Openai-Project", "X-Custom"} {
			if _, set := r.Header[http.CanonicalHeaderKey(name)]; set {
				t.Errorf("%s: header %s was sent", r.Path, name)
			}
		}
	}
}

// refuse answers 400 to requests that hold a member, in the words of a server.
func refuse(s *modeltest.Server, members map[string]string) {
	s.Handle("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body)
		for name, answer := range members {
			if _, sent := body[name]; sent {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(answer))
				return
			}
		}
		_, _ = w.Write([]byte(event(`{"content":"a"}`, "stop") + "\n" + done))
	})
}

func TestRequest_RefusedParametersAreDroppedOnce(t *testing.T) {
	s := modeltest.New(t)
	refuse(s, map[string]string{
		"stream_options":    `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}`,
		"max_tokens":        `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`,
		"temperature":       `{"error":{"message":"Unsupported value","param":"temperature"}}`,
		"reasoning_effort":  `{"error":"unknown field: reasoning_effort"}`,
		"prompt_cache_key":  `{"error":{"message":"no prompt_cache_key here"}}`,
		"something_unasked": ``,
	})
	p := provider(t, s, func(o *openai.Options) { o.PromptCacheKey = true })
	temperature := 0.2
	ask1 := func(id string) map[string]any {
		req := request()
		req.Model, req.Temperature, req.MaxTokens, req.ThoughtLevel, req.CacheKey = id, &temperature, 4000, "low", "ses_1"
		if a, err := ask(t.Context(), t, p, req); err != nil || a.Text != "a" {
			t.Fatalf("got %+v and %v", a, err)
		}
		requests := s.Requests()
		body, _ := parse(t, string(requests[len(requests)-1].Body)).(map[string]any)
		return body
	}
	body := ask1("fake")
	if n := len(s.Requests()); n != 6 {
		t.Errorf("%d requests", n)
	}
	if body["max_completion_tokens"] != 4000.0 || len(body) != 4 {
		t.Errorf("the request that passed: %v", body)
	}
	ask1("fake")
	if n := len(s.Requests()); n != 7 {
		t.Errorf("what was learned is forgotten: %d requests", n)
	}
	ask1("another")
	if n := len(s.Requests()); n != 13 {
		t.Errorf("what was learned of one model is thought of another: %d requests", n)
	}
}

func TestRequest_OtherRefusalsAreFinal(t *testing.T) {
	s := modeltest.New(t)
	refuse(s, map[string]string{"stream": `{"error":{"message":"temperatures and max_tokens_per_day are wrong; temperature was not sent"}}`})
	if e := failure(t, provider(t, s)); e.Kind != model.Invalid || len(s.Requests()) != 1 {
		t.Errorf("got %v after %d requests", e, len(s.Requests()))
	}
}

// conversation makes n finished turns of about size bytes.
func conversation(n, size int) []*transcript.Message {
	var list []*transcript.Message
	for range n {
		list = append(list, user("what is in the file?"), &transcript.Message{
			Role: transcript.Assistant, Finished: true, Parts: []transcript.Part{
				&transcript.TextPart{Text: strings.Repeat("It says \"hello\".\n", size/16)},
			},
		})
	}
	return list
}

// A finished message is encoded once, and the bytes of a request begin with
// those of the one before (R138).
func TestRequest_PrefixIsStable(t *testing.T) {
	s := modeltest.New(t, modeltest.Step{Repeat: -1})
	p := provider(t, s)
	history := conversation(5, 100)
	noted := *history[3]
	noted.Synthetic = true
	history = slices.Insert(history, 4, &noted)
	req := request(history...)
	plain := request(history...)
	plain.Memo = nil
	for i := 3; i <= len(history); i++ {
		req.Messages, plain.Messages = history[:i:i], history[:i]
		for _, r := range []*model.Request{req, plain} {
			if _, err := ask(t.Context(), t, p, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	requests := s.Requests()
	last := ""
	for i := 0; i < len(requests); i += 2 {
		body := string(requests[i].Body)
		if body != string(requests[i+1].Body) {
			t.Errorf("with and without a memo:\n%s\n%s", body, requests[i+1].Body)
		}
		if !strings.HasPrefix(body, strings.TrimSuffix(last, "]}")) {
			t.Errorf("%s\ndoes not begin with\n%s", body, last)
		}
		last = body
	}

	// Messages that are not finished are read anew; deleted ones are dropped.
	growing := &transcript.Message{Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: "one"}}}
	for _, tt := range []struct {
		list []*transcript.Message
		want []string
	}{
		{append(slices.Clone(history[:2]), growing), []string{"what is", "one"}},
		{append(slices.Clone(history[:2]), growing), []string{"what is", "two"}},
		{[]*transcript.Message{growing}, []string{"two"}},
		{append([]*transcript.Message{user("summary")}, history[8:]...), []string{"summary", "what is"}},
	} {
		req.Messages = tt.list
		if _, err := ask(t.Context(), t, p, req); err != nil {
			t.Fatal(err)
		}
		requests := s.Requests()
		list, _ := messages(t, requests[len(requests)-1]).([]any)
		var got []string
		for _, m := range list {
			if m, _ := m.(map[string]any); m["role"] == "user" {
				content, _ := m["content"].(string)
				got = append(got, content[:min(7, len(content))])
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Error("(-want +got)\n", diff)
		}
		growing.Parts = []transcript.Part{&transcript.TextPart{Text: "two"}}
	}
}
