package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/anthropictest"
	"acp-agent/model"
	"acp-agent/model/anthropic"
	"acp-agent/transcript"
)

// What a conversation may hold, in the form that the API wants.
func TestRequest_Messages(t *testing.T) {
	picture := transcript.ImagePart{MediaType: "image/png", Data: "aGk="}
	call := func(id, input string, state transcript.State, images ...transcript.ImagePart) *transcript.ToolPart {
		return &transcript.ToolPart{CallID: id, Name: "read", Input: input, State: state, Text: "r", Images: images}
	}
	user := func(parts ...transcript.Part) *transcript.Message {
		return &transcript.Message{Role: transcript.User, Parts: parts, Finished: true}
	}
	said := func(parts ...transcript.Part) *transcript.Message {
		return &transcript.Message{Role: transcript.Assistant, Parts: parts, Finished: true}
	}
	for _, tt := range []struct {
		name     string
		messages []*transcript.Message
		want     string // the messages, roles and types of blocks
	}{
		{"a picture", []*transcript.Message{user(text("look"), &picture, text(" "))}, "user[text image]"},
		{"a picture of a kind that is not taken", []*transcript.Message{user(&transcript.ImagePart{MediaType: "image/tiff", Data: "aGk="})}, "user[text]"},
		{"a picture in a result", []*transcript.Message{user(text("a")), said(call("c", `{}`, transcript.Done, picture))}, "user[text] assistant[tool_use] user[tool_result(text image)]"},
		{"a picture in an error", []*transcript.Message{user(text("a")), said(call("c", `{}`, transcript.Failed, picture))}, "user[text] assistant[tool_use] user[tool_result!(text) text image]"},
		{"a call that was cut", []*transcript.Message{user(text("a")), said(call("c", `{"path":"`, transcript.Failed)), user(text("b"))}, "user[text] assistant[tool_use] user[tool_result!(text) text]"},
		{"two calls, one interrupted", []*transcript.Message{user(text("a")), said(text("x"), call("c.1", `{ "a" : 1 }`, transcript.Rejected), call("", "[1]", transcript.InProgress))}, "user[text] assistant[text tool_use tool_use] user[tool_result!(text) tool_result(text)]"},
		{"an answer at the end", []*transcript.Message{user(text("a")), said(text("half"))}, "user[text] assistant[text] user[text]"},
		{"an answer first", []*transcript.Message{said(text("half")), user(text("a"))}, "user[text] assistant[text] user[text]"},
		{"nothing", nil, "user[text]"},
		{"thinking alone", []*transcript.Message{user(text("a")), said(&transcript.ReasoningPart{Text: "t"}), user(text("b"))}, "user[text text]"},
		{"the agent's own", []*transcript.Message{user(text("a")), said(text("x")), {Role: transcript.Assistant, Synthetic: true, Finished: true, Parts: []transcript.Part{text("done")}}, user(text("b"))}, "user[text] assistant[text] user[text text]"},
		{"two answers", []*transcript.Message{user(text("a")), said(text("x")), said(text("y")), user(text("b"))}, "user[text] assistant[text text] user[text]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := anthropictest.New(t, anthropictest.Step{Text: "ok"}, anthropictest.Step{Text: "ok"})
			k := newTalk(t, s, nil)
			k.req.Messages = tt.messages
			for range 2 { // the second time from the memo
				k.req.Messages = tt.messages
				k.must()
			}
			check(t, s)
			for _, x := range s.Exchanges() {
				if got := shape(t, x.Body); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			}
		})
	}
}

// shape is the messages of a request in short.
func shape(t *testing.T, body []byte) string {
	t.Helper()
	type block struct {
		Type    string
		IsError bool `json:"is_error"`
		Content []struct{ Type string }
	}
	var r struct {
		Messages []struct {
			Role    string
			Content []block
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	var messages []string
	for _, m := range r.Messages {
		var blocks []string
		for _, b := range m.Content {
			name := b.Type
			if b.IsError {
				name += "!"
			}
			var inner []string
			for _, c := range b.Content {
				inner = append(inner, c.Type)
			}
			if inner != nil {
				name += "(" + strings.Join(inner, " ") + ")"
			}
			blocks = append(blocks, name)
		}
		messages = append(messages, m.Role+"["+strings.Join(blocks, " ")+"]")
	}
	return strings.Join(messages, " ")
}

// params are the members of a request that say how to answer.
func params(t *testing.T, body []byte) string {
	t.Helper()
	var r map[string]json.RawMessage
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, name := range []string{"max_tokens", "thinking", "output_config", "temperature", "top_k"} {
		if value, set := r[name]; set {
			list = append(list, name+"="+string(value))
		}
	}
	return strings.Join(list, " ")
}

func TestRequest_Params(t *testing.T) {
	warm := 0.5
	for _, tt := range []struct {
		model, level string
		most         int
		temperature  *float64
		want         string
	}{
		{model: "claude-sonnet-4-5", want: `max_tokens=32000`},
		{model: "claude-sonnet-4-5", temperature: &warm, want: `max_tokens=32000 temperature=0.5`},
		{model: "claude-sonnet-4-5", level: "low", temperature: &warm, want: `max_tokens=36000 thinking={"type":"enabled","budget_tokens":4000}`},
		{model: "claude-sonnet-4-5", level: "high", want: `max_tokens=64000 thinking={"type":"enabled","budget_tokens":32000}`},
		{model: "claude-opus-4-1", level: "high", want: `max_tokens=32000 thinking={"type":"enabled","budget_tokens":30976}`},
		{model: "claude-sonnet-4-5", level: "high", most: 3000, want: `max_tokens=3000 thinking={"type":"enabled","budget_tokens":1976}`},
		{model: "claude-sonnet-4-5", level: "high", most: 2000, want: `max_tokens=2000`},
		{model: "claude-3-5-haiku-latest", level: "high", want: `max_tokens=8192`},
		{model: "claude-opus-5", temperature: &warm, want: `max_tokens=64000 thinking={"type":"adaptive","display":"summarized"}`},
		{model: "claude-opus-5", level: "max", want: `max_tokens=64000 thinking={"type":"adaptive","display":"summarized"} output_config={"effort":"max"}`},
		{model: "claude-opus-5", level: "none", temperature: &warm, want: `max_tokens=64000 thinking={"type":"disabled"} temperature=0.5`},
		{model: "claude-fable-5-1", level: "none", want: `max_tokens=64000 thinking={"type":"adaptive","display":"summarized"}`},
		{model: "anthropic/claude-opus-5", want: `max_tokens=64000 thinking={"type":"adaptive","display":"summarized"}`},
		{model: "deepseek-chat", level: "high", want: `max_tokens=32000`},
	} {
		s := anthropictest.New(t, anthropictest.Step{Text: "ok"})
		s.Lenient = true // it knows fewer models
		k := newTalk(t, s, nil)
		k.req.Model, k.req.ThoughtLevel, k.req.MaxTokens, k.req.Temperature = tt.model, tt.level, tt.most, tt.temperature
		k.says(text("go"))
		k.must()
		if got := params(t, s.Exchanges()[0].Body); got != tt.want {
			t.Errorf("%s at %q:\ngot  %s\nwant %s", tt.model, tt.level, got, tt.want)
		}
	}
}

// What a server refuses and the request can do without is left out, once and for all or for
// this request.
func TestRequest_Relief(t *testing.T) {
	refusal := func(message string) anthropictest.Step {
		text, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": message}})
		return anthropictest.Step{Status: 400, Body: string(text)}
	}
	for _, tt := range []struct {
		name, model, message string
		want, later          string
	}{
		// github.com/docker/docker-agent/issues/569
		{
			"room", "claude-sonnet-4-5", "input length and `max_tokens` exceed context limit: 178959 + 32000 > 200000, decrease input length or `max_tokens` and try again",
			`max_tokens=20941`, `max_tokens=32000`,
		},
		{"most", "claude-sonnet-4-5", "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-sonnet-4-5", `max_tokens=8192`, `max_tokens=8192`},
		{"range", "deepseek-chat", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", `max_tokens=8192`, `max_tokens=8192`},
		// docs.memberjunction.org/v6.2, UsesAdaptiveThinking, quotes its like.
		{
			"thinking", "claude-opus-5", `"thinking.type.adaptive" is not supported for this model.`,
			`max_tokens=64000`, `max_tokens=64000`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := anthropictest.New(t, refusal(tt.message), anthropictest.Step{Text: "ok"}, anthropictest.Step{Text: "ok"})
			s.Lenient = true
			k := newTalk(t, s, nil)
			k.req.Model, k.req.ThoughtLevel = tt.model, ""
			k.says(text("go"))
			k.must()
			k.says(text("on"))
			k.must()
			got := []string{params(t, s.Exchanges()[1].Body), params(t, s.Exchanges()[2].Body)}
			if diff := cmp.Diff([]string{tt.want, tt.later}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	s := anthropictest.New(t, refusal("messages.0.content.0.cache_control: Extra inputs are not permitted"), anthropictest.Step{Text: "ok"}, refusal("this model does not support image input"), anthropictest.Step{Text: "ok"})
	k := newTalk(t, s, nil)
	k.says(text("go"), &transcript.ImagePart{MediaType: "image/png", Data: "aGk="})
	k.must()
	a := k.must()
	check(t, s)
	if body := string(s.Exchanges()[3].Body); strings.Contains(body, "cache_control") || strings.Contains(body, `"image"`) || len(a.warnings) != 1 {
		t.Errorf("marks, a picture, or warnings %q: %s", a.warnings, body)
	}
}

func TestRequest_Headers(t *testing.T) {
	s := anthropictest.New(t, anthropictest.Step{Text: "ok"})
	k := newTalk(t, s, func(o *anthropic.Options) {
		o.Version, o.Headers, o.ExtraBody = "1.2", map[string]string{"Anthropic-Beta": "a,b", "Authorization": "Bearer x"}, map[string]any{"max_tokens": 77, "top_k": 5}
		o.Clean = func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") }
	})
	s.Lenient = true
	k.req.System = "the password is hunter2"
	k.says(text("go"))
	k.must()
	x := s.Exchanges()[0]
	want := map[string]string{"X-Api-Key": "key-of-the-test", "Anthropic-Version": "2023-06-01", "Anthropic-Beta": "a,b", "Authorization": "Bearer x", "User-Agent": "acp-agent/1.2", "Content-Type": "application/json"}
	for name, value := range want {
		if got := x.Header.Get(name); got != value {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := params(t, x.Body); got != `max_tokens=77 thinking={"type":"enabled","budget_tokens":4000} top_k=5` || strings.Contains(string(x.Body), "hunter2") {
		t.Errorf("got %s in %s", got, x.Body)
	}
	if _, err := anthropic.New(anthropic.Options{ExtraBody: map[string]any{"system": "x"}}); err == nil {
		t.Error("the system text may be replaced")
	}
}

func TestModels(t *testing.T) {
	s := anthropictest.New(t)
	k := newTalk(t, s, func(o *anthropic.Options) { o.Window = map[string]int{"claude-sonnet-4-5": 1234} })
	if _, err := k.provider.Probe(t.Context(), "claude-test-9"); err != nil {
		t.Fatal(err)
	}
	if got := k.provider.Describe(t.Context(), "claude-test-9"); got.Window != 700_000 || !slices.Equal(got.ThoughtLevels, []string{"none", "low", "medium", "high", "max"}) {
		t.Errorf("probed: %+v", got)
	}
	if _, err := k.provider.Probe(t.Context(), "claude-none"); err != nil {
		t.Errorf("an unknown model: %v", err)
	}
	got, err := k.provider.Models(t.Context())
	want := []model.Info{
		{ID: "claude-sonnet-4-5", Name: "Claude Sonnet 4.5", Window: 1234, MaxOutput: 50_000, Images: model.Yes, ThoughtLevels: []string{"low", "medium", "high"}},
		{ID: "claude-test-9", Name: "Claude Test 9", Window: 700_000, MaxOutput: 50_000, Images: model.Yes, ThoughtLevels: []string{"none", "low", "medium", "high", "max"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A server that says nothing, or brings nothing, is given up.
func TestStream_Silence(t *testing.T) {
	s := anthropictest.New(t, anthropictest.Step{Text: "some text", Stall: 5})
	k := newTalk(t, s, func(o *anthropic.Options) { o.IdleTimeout, o.StartTimeout = 50*time.Millisecond, 5*time.Second })
	k.says(text("go"))
	_, err := k.step()
	if e := model.AsError(err); e.Kind != model.Transient || !e.Interrupted || !strings.Contains(e.Message, "silent") {
		t.Errorf("got %#v", err)
	}
}
