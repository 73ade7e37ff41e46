package responses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/responsestest"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/model/responses"
	"acp-agent/transcript"
)

// talk is a conversation with a provider, as the loop has it.
type talk struct {
	t        *testing.T
	provider model.Provider
	req      *model.Request
}

// chat is a provider for the other API of a server.
func chat(t *testing.T, s *responsestest.Server, change func(*openai.Options)) *openai.Provider {
	t.Helper()
	opts := openai.Options{BaseURL: s.URL, APIKey: "key-of-the-test"}
	if change != nil {
		change(&opts)
	}
	p, err := openai.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func newTalk(t *testing.T, s *responsestest.Server) *talk {
	t.Helper()
	p, err := responses.New(chat(t, s, nil))
	if err != nil {
		t.Fatal(err)
	}
	return &talk{t, p, &model.Request{
		Model: "gpt-test-9", System: "You are a test.", ThoughtLevel: "low", Memo: &model.Memo{}, CacheKey: "session-1",
		Tools: []model.Tool{{Name: "read", Description: "reads", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "list", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}}
}

// says adds a message of the user.
func (k *talk) says(parts ...transcript.Part) {
	k.req.Messages = append(k.req.Messages, &transcript.Message{Role: transcript.User, Parts: parts, Finished: true})
}

func text(s string) transcript.Part { return &transcript.TextPart{Text: s} }

// answer is a step: the message that the loop would make of it, with results of its calls.
type answer struct {
	*transcript.Message
	usage    *transcript.Usage
	finish   model.FinishReason
	model    string
	warnings []string
}

// step makes a step and adds its message. Calls have ids of the agent's own, as with the loop.
func (k *talk) step() (answer, error) {
	a := answer{Message: &transcript.Message{Role: transcript.Assistant, Finished: true, Model: k.req.Model}}
	calls := map[int]*transcript.ToolPart{}
	var open transcript.Part
	for c, err := range k.provider.Stream(k.t.Context(), k.req) {
		if err != nil {
			return a, err
		}
		if c.Origin != "" {
			a.Origin = c.Origin
		}
		switch c.Kind {
		case model.Text:
			if last, ok := open.(*transcript.TextPart); ok {
				last.Text += c.Text
			} else {
				open = text(c.Text)
				a.Parts = append(a.Parts, open)
			}
		case model.Reasoning:
			part, ok := open.(*transcript.ReasoningPart)
			if !ok {
				part = &transcript.ReasoningPart{}
				open = part
				a.Parts = append(a.Parts, open)
			}
			part.Text += c.Text
			if c.Replay != nil {
				part.Replay, open = c.Replay, nil
			}
		case model.ToolCall:
			call := calls[c.Index]
			if call == nil {
				call = &transcript.ToolPart{CallID: fmt.Sprintf("tool_%d_%d", len(k.req.Messages), c.Index), Name: c.Name, State: transcript.Done, Text: "result of " + c.Name}
				calls[c.Index], open = call, nil
				a.Parts = append(a.Parts, call)
			}
			call.Input += c.Arguments
			if c.Replay != nil {
				call.Replay = c.Replay
			}
		case model.Usage:
			a.usage = c.Usage
		case model.Warning:
			a.warnings = append(a.warnings, c.Title+": "+c.Text)
		case model.Finish:
			a.finish, a.model = c.Reason, c.Model
		}
	}
	k.req.Messages = append(k.req.Messages, a.Message)
	return a, nil
}

// must is step where no error is wanted.
func (k *talk) must() answer {
	k.t.Helper()
	a, err := k.step()
	if err != nil {
		k.t.Fatal(err)
	}
	return a
}

func check(t *testing.T, s *responsestest.Server) {
	t.Helper()
	for _, problem := range s.Broken() {
		t.Errorf("refused: %s", problem)
	}
	if s.Left() != 0 {
		t.Errorf("%d steps are left", s.Left())
	}
}

// shown is what a user sees of an answer, and how the parts stand.
func (a answer) shown() []string {
	var list []string
	for _, part := range a.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			list = append(list, "text "+part.Text)
		case *transcript.ReasoningPart:
			if part.Text != "" || strings.Contains(string(part.Replay), "encrypted_content") {
				list = append(list, "thought "+part.Text)
			}
		case *transcript.ToolPart:
			list = append(list, "call "+part.Name+" "+part.Input)
		}
	}
	return list
}

func TestStream_Step(t *testing.T) {
	calls := []responsestest.Call{{Name: "read", Arguments: `{"path":"a\"ä😀"}`}, {Name: "list", Arguments: `{}`}}
	thought := "thought Ich überlege 😀 \"so\".\n\nUnd so <&>."
	for _, tt := range []struct {
		name string
		step responsestest.Step
		want []string
	}{
		{
			"all",
			responsestest.Step{Thoughts: []string{"Ich überlege 😀 \"so\".", "Und so <&>."}, Comment: "Zwei Dinge ä.", Calls: calls},
			[]string{thought, "text Zwei Dinge ä.", `call read {"path":"a\"ä😀"}`, "call list {}"},
		},
		{
			"at once",
			responsestest.Step{Whole: true, Thoughts: []string{"Ich überlege 😀 \"so\".", "Und so <&>."}, Comment: "Zwei Dinge ä.", Calls: calls},
			[]string{thought, "text Zwei Dinge ä.", `call read {"path":"a\"ä😀"}`, "call list {}"},
		},
		{
			"thoughts between calls",
			responsestest.Step{Thoughts: []string{"t"}, Between: true, Calls: calls},
			[]string{"thought t", `call read {"path":"a\"ä😀"}`, "thought t", "call list {}"},
		},
		{"silent thoughts", responsestest.Step{Silent: true, Text: "Well."}, []string{"thought ", "text Well."}},
		{"thoughts as they are", responsestest.Step{Raw: "Hm, so.", Text: "Well."}, []string{"thought Hm, so.", "text Well."}},
		{"two messages", responsestest.Step{Comment: "I look.", Text: "Done."}, []string{"text I look.", "text \n\nDone."}},
		{"a refusal", responsestest.Step{Refusal: "No."}, []string{"text No."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := responsestest.New(t, tt.step)
			k := newTalk(t, s)
			k.says(text("go"))
			a := k.must()
			check(t, s)
			if diff := cmp.Diff(tt.want, a.shown()); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&transcript.Usage{Input: 25, CacheRead: 100, Output: 30, Reasoning: 20}, a.usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			finish := model.Stop
			switch {
			case len(tt.step.Calls) > 0:
				finish = model.ToolCalls
			case tt.step.Refusal != "":
				finish = model.Refusal
			}
			if a.finish != finish || a.model != "gpt-test-9" || !strings.HasPrefix(a.Origin, "responses http://127.0.0.1") {
				t.Errorf("finish %s of %q, origin %q", a.finish, a.model, a.Origin)
			}
		})
	}
}

// Thirty calls with thinking, in turns and in rows; the server checks each request, and holds
// what comes back to be what it sent.
func TestStream_ThirtyCalls(t *testing.T) {
	for _, level := range []string{"", "high"} {
		t.Run("level "+level, func(t *testing.T) {
			var steps []responsestest.Step
			for i := range 20 {
				step := responsestest.Step{Thoughts: []string{fmt.Sprint("thought <", i, ">")}, Calls: []responsestest.Call{{Name: "read", Arguments: `{"n":1}`}}}
				if i%2 == 1 {
					step.Comment, step.Between = "Look.", i%4 == 1
					step.Calls = append(step.Calls, responsestest.Call{Name: "list", Arguments: `{}`})
				}
				if i%5 == 4 {
					step.Silent, step.Thoughts = true, nil
				}
				steps = append(steps, step)
				if i%10 == 9 {
					steps = append(steps, responsestest.Step{Thoughts: []string{"done"}, Comment: "So.", Text: "Done."})
				}
			}
			s := responsestest.New(t, steps...)
			k := newTalk(t, s)
			k.req.ThoughtLevel = level
			calls := 0
			for range 2 {
				k.says(text("go on"))
				for {
					a := k.must()
					calls += len(a.Calls())
					if len(a.Calls()) == 0 {
						break
					}
				}
			}
			check(t, s)
			if calls != 30 {
				t.Errorf("%d calls", calls)
			}
			exchanges := s.Exchanges()
			if n := strings.Count(string(exchanges[len(exchanges)-1].Body), `"encrypted_content":"`); n != 26 {
				t.Errorf("%d reasoning items in the last request", n)
			}
			checkPrefixes(t, exchanges)
		})
	}
}

// checkPrefixes holds each request to begin with the one before (R138).
func checkPrefixes(t *testing.T, exchanges []responsestest.Exchange) {
	t.Helper()
	before := ""
	for i, x := range exchanges {
		if prefix := strings.TrimSuffix(before, "]}"); !strings.HasPrefix(string(x.Body), prefix) {
			t.Errorf("request %d does not begin with the one before", i)
		}
		before = string(x.Body)
	}
}

// The transcript of a session is stored and read again; the items are still what they were.
func TestStream_Stored(t *testing.T) {
	s := responsestest.New(t, responsestest.Step{Thoughts: []string{"a <b> & c"}, Comment: "x", Calls: []responsestest.Call{{Name: "read", Arguments: `{}`}}}, responsestest.Step{Text: "ok"})
	k := newTalk(t, s)
	k.says(text("go"))
	k.must()
	k.req.Messages, k.req.Memo = modeltest.Stored(t, k.req.Messages), &model.Memo{}
	k.must()
	check(t, s)
	if body := string(s.Exchanges()[1].Body); !strings.Contains(body, `"encrypted_content"`) || !strings.Contains(body, `"id":"fc_0_2"`) || !strings.Contains(body, `"phase":"commentary"`) {
		t.Errorf("the items are not whole: %s", body)
	}
}

// A switch of model leaves out what another wrote; back again, it is there.
func TestStream_SwitchOfModel(t *testing.T) {
	call := responsestest.Step{Thoughts: []string{"t"}, Comment: "c", Calls: []responsestest.Call{{Name: "read", Arguments: `{}`}}}
	s := responsestest.New(t, call, call, call)
	k := newTalk(t, s)
	k.says(text("go"))
	for i, id := range []string{"gpt-test-9", "gpt-test-8", "gpt-test-9"} {
		k.req.Model = id
		k.must()
		if n := strings.Count(string(s.Exchanges()[i].Body), `"encrypted_content":"`); n != i/2 {
			t.Errorf("%d reasoning items in request %d", n, i)
		}
	}
	check(t, s)
}

// An answer that was cut has what it said, and no reasoning that nothing follows.
func TestStream_CutAnswer(t *testing.T) {
	for cut := range 40 {
		s := responsestest.New(t, responsestest.Step{Thoughts: []string{"thinking"}, Comment: "words", Calls: []responsestest.Call{{Name: "read", Arguments: `{"a":1}`}}, Cut: cut + 1}, responsestest.Step{Text: "ok"})
		k := newTalk(t, s)
		k.says(text("go"))
		a, err := k.step()
		if err == nil {
			break
		}
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.Transient {
			t.Fatalf("cut after %d: %v", cut+1, err)
		}
		k.req.Messages = append(k.req.Messages, a.Message)
		k.says(text("go on"))
		k.must()
		check(t, s)
	}
}

// Reasoning that the server cannot decrypt, or looks for among what it stored, is left out
// from then on, and so are the ids of what followed it.
func TestStream_StaleReasoning(t *testing.T) {
	call := responsestest.Step{Thoughts: []string{"t"}, Comment: "c", Calls: []responsestest.Call{{Name: "read", Arguments: `{}`}}}
	for _, damage := range []string{`"encrypted_content":"gAAAAA`, `"id":"rs_`} {
		s := responsestest.New(t, call, call, call)
		k := newTalk(t, s)
		k.says(text("go"))
		a := k.must()
		for _, part := range a.Parts {
			if r, ok := part.(*transcript.ReasoningPart); ok {
				r.Replay = json.RawMessage(strings.Replace(string(r.Replay), damage, damage+"x", 1))
			}
		}
		k.must()
		k.must()
		if broken := s.Broken(); len(broken) != 1 || !strings.Contains(broken[0], "could not be verified") && !strings.Contains(broken[0], "not persisted") {
			t.Errorf("refused: %q", broken)
		}
		exchanges := s.Exchanges()
		if body := string(exchanges[len(exchanges)-1].Body); strings.Count(body, `"encrypted_content"`) != 1 || strings.Count(body, `"id":"fc_`) != 1 {
			t.Errorf("the last request has not exactly the new items: %s", body)
		}
	}
}

// What servers and models do not take is noticed once, and the rest stays.
func TestStream_Refused(t *testing.T) {
	picture := transcript.ImagePart{MediaType: "image/png", Data: "aGk="}
	for _, tt := range []struct {
		name   string
		server func(*responsestest.Server)
		req    func(*model.Request)
		broken int
		want   string // in the second request
	}{
		{"no summaries", func(s *responsestest.Server) { s.Unverified = true }, nil, 1, `"reasoning":{"effort":"low"}`},
		{"another effort", func(s *responsestest.Server) { s.Efforts = []string{"high"} }, nil, 1, `"reasoning":{"summary":"auto"}`},
		{"no temperature", nil, func(r *model.Request) { r.Temperature = new(float64) }, 1, `"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},"prompt_cache_key":"session-1",`},
		{"no thinking", func(s *responsestest.Server) { s.Plain = true }, nil, 2, `"store":false,"prompt_cache_key":"session-1",`},
		{"no pictures in results", func(s *responsestest.Server) { s.TextOutputs = true }, func(r *model.Request) {
			r.Messages = append(r.Messages, &transcript.Message{Role: transcript.Assistant, Finished: true, Parts: []transcript.Part{
				&transcript.ToolPart{CallID: "c", Name: "read", Input: "{}", State: transcript.Done, Text: "r", Images: []transcript.ImagePart{picture}},
			}})
		}, 1, `"output":"r"},{"type":"message","role":"user","content":[{"type":"input_text","text":"Image 1 from the result of read (c):"},{"type":"input_image"`},
		{"no pictures", func(s *responsestest.Server) { s.Blind = "this model does not support image input" }, func(r *model.Request) {
			r.Messages[0].Parts = append(r.Messages[0].Parts, &picture)
		}, 1, `[image omitted: this model takes no images]`},
		{"no pictures, in unknown words", func(s *responsestest.Server) { s.Blind = "part 2 is not of a known kind" }, func(r *model.Request) {
			r.Messages[0].Parts = append(r.Messages[0].Parts, &picture)
		}, 1, `[image omitted: this model takes no images]`},
		{"few tokens", nil, func(r *model.Request) { r.MaxTokens = 3 }, 0, `"max_output_tokens":16`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := responsestest.New(t, responsestest.Step{Text: "a"}, responsestest.Step{Text: "b"})
			if tt.server != nil {
				tt.server(s)
			}
			k := newTalk(t, s)
			k.says(text("go"))
			if tt.req != nil {
				tt.req(k.req)
			}
			if a := k.must(); (s.Blind != "") != (len(a.warnings) == 1) {
				t.Errorf("told %q", a.warnings)
			}
			k.says(text("on"))
			k.must()
			if broken := s.Broken(); len(broken) != tt.broken {
				t.Errorf("refused: %q", broken)
			}
			exchanges := s.Exchanges()
			if body := string(exchanges[len(exchanges)-1].Body); !strings.Contains(body, tt.want) {
				t.Errorf("the last request has no %s: %s", tt.want, body)
			}
		})
	}
}

func TestStream_Ends(t *testing.T) {
	for reason, want := range map[string]model.FinishReason{
		"max_output_tokens": model.Length, "content_filter": model.Refusal, "one_of_the_future": model.Stop,
	} {
		s := responsestest.New(t, responsestest.Step{Text: "Well.", Incomplete: reason})
		k := newTalk(t, s)
		k.says(text("go"))
		if a := k.must(); a.finish != want {
			t.Errorf("%s is %s, want %s", reason, a.finish, want)
		}
	}
}

// The codes are those of the official SDK's ResponseError and of
// developers.openai.com/api/docs/guides/error-codes.
func TestStream_Errors(t *testing.T) {
	body := func(code, message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":%q}}`, message, code)
	}
	for _, tt := range []struct {
		name  string
		step  responsestest.Step
		kind  model.ErrorKind
		after time.Duration
		cut   bool
	}{
		{name: "key", step: responsestest.Step{Status: 401, Body: body("invalid_api_key", "Incorrect API key provided")}, kind: model.Auth},
		{name: "model", step: responsestest.Step{Status: 404, Body: body("model_not_found", "The model `x` does not exist")}, kind: model.Invalid},
		{name: "rate", step: responsestest.Step{Status: 429, Header: map[string]string{"retry-after": "7"}, Body: body("rate_limit_exceeded", "slow")}, kind: model.Transient, after: 7 * time.Second},
		{name: "quota", step: responsestest.Step{Status: 429, Body: body("insufficient_quota", "You exceeded your current quota")}, kind: model.Auth},
		{name: "too long", step: responsestest.Step{Status: 400, Body: body("context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again.")}, kind: model.Overflow},
		{name: "failed", step: responsestest.Step{Text: "a", Failed: "server_error"}, kind: model.Transient, cut: true},
		{name: "failed for the rate", step: responsestest.Step{Text: "a", Failed: "rate_limit_exceeded"}, kind: model.Transient, cut: true},
		{name: "failed for the length", step: responsestest.Step{Text: "a", Failed: "context_length_exceeded"}, kind: model.Overflow, cut: true},
		{name: "failed for the prompt", step: responsestest.Step{Text: "a", Failed: "invalid_prompt"}, kind: model.Invalid, cut: true},
		{name: "an error event", step: responsestest.Step{Text: "a", Error: "server_error"}, kind: model.Transient, cut: true},
		{name: "cut", step: responsestest.Step{Text: "some text", Cut: 8}, kind: model.Transient, cut: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := responsestest.New(t, tt.step)
			k := newTalk(t, s)
			k.says(text("go"))
			_, err := k.step()
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.RetryAfter != tt.after || e.Interrupted != tt.cut {
				t.Errorf("got %#v", err)
			}
		})
	}
}
