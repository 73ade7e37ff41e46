package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
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

// talk is a conversation with a provider, as the loop has it.
type talk struct {
	t        *testing.T
	provider *anthropic.Provider
	req      *model.Request
}

func newTalk(t *testing.T, s *anthropictest.Server, change func(*anthropic.Options)) *talk {
	t.Helper()
	opts := anthropic.Options{BaseURL: s.URL, APIKey: "key-of-the-test"}
	if change != nil {
		change(&opts)
	}
	p, err := anthropic.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &talk{t, p, &model.Request{
		Model: "claude-sonnet-4-5", System: "You are a test.", ThoughtLevel: "low", Memo: &model.Memo{},
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
	warnings []string
	chunks   []model.Chunk
}

// step makes a step and adds its message.
func (k *talk) step() (answer, error) {
	a := answer{Message: &transcript.Message{Role: transcript.Assistant, Finished: true, Model: k.req.Model}}
	calls := map[int]*transcript.ToolPart{}
	var open *transcript.ReasoningPart
	for c, err := range k.provider.Stream(k.t.Context(), k.req) {
		if err != nil {
			return a, err
		}
		a.chunks = append(a.chunks, c)
		if c.Origin != "" {
			a.Origin = c.Origin
		}
		switch c.Kind {
		case model.Text:
			if last, ok := lastPart(a.Parts).(*transcript.TextPart); ok {
				last.Text += c.Text
			} else {
				a.Parts = append(a.Parts, text(c.Text))
			}
		case model.Reasoning:
			if open == nil {
				open = &transcript.ReasoningPart{}
				a.Parts = append(a.Parts, open)
			}
			open.Text += c.Text
			if c.Replay != nil {
				open.Replay, open = c.Replay, nil
			}
		case model.ToolCall:
			call := calls[c.Index]
			if call == nil {
				call = &transcript.ToolPart{CallID: fmt.Sprintf("call_%d_%d", len(k.req.Messages), c.Index), Name: c.Name, State: transcript.Done, Text: "result of " + c.Name}
				calls[c.Index] = call
				a.Parts = append(a.Parts, call)
			}
			call.Input += c.Arguments
		case model.Usage:
			a.usage = c.Usage
		case model.Warning:
			a.warnings = append(a.warnings, c.Title+": "+c.Text)
		case model.Finish:
			a.finish = c.Reason
		}
	}
	k.req.Messages = append(k.req.Messages, a.Message)
	return a, nil
}

func lastPart(parts []transcript.Part) transcript.Part {
	if len(parts) == 0 {
		return nil
	}
	return parts[len(parts)-1]
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

func check(t *testing.T, s *anthropictest.Server) {
	t.Helper()
	for _, problem := range s.Broken() {
		t.Errorf("refused: %s", problem)
	}
	if s.Left() != 0 {
		t.Errorf("%d steps are left", s.Left())
	}
}

func TestStream_Step(t *testing.T) {
	s := anthropictest.New(t, anthropictest.Step{
		Thinking: "Ich überlege 😀 \"so\".", Redacted: "secret", Text: "Zwei Dinge ä.",
		Calls: []anthropictest.Call{{Name: "read", Input: `{"path":"a\"ä😀"}`}, {Name: "list", Input: `{}`}},
		Usage: `"output_tokens_details":{"thinking_tokens":20}`,
	})
	k := newTalk(t, s, nil)
	k.says(text("go"))
	a := k.must()
	check(t, s)
	var got []string
	for _, part := range a.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			got = append(got, "text "+part.Text)
		case *transcript.ReasoningPart:
			got = append(got, fmt.Sprintf("reasoning %s %v", part.Text, json.Valid(part.Replay)))
		case *transcript.ToolPart:
			got = append(got, "call "+part.Name+" "+part.Input)
		}
	}
	want := []string{"reasoning Ich überlege 😀 \"so\". true", "reasoning  true", "text Zwei Dinge ä.", `call read {"path":"a\"ä😀"}`, "call list {}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&transcript.Usage{Input: 25, CacheRead: 100, CacheWrite: 7, Output: 30, Reasoning: 20}, a.usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if a.finish != model.ToolCalls || !strings.HasPrefix(a.Origin, "anthropic http://127.0.0.1") {
		t.Errorf("finish %s, origin %q", a.finish, a.Origin)
	}
}

// Thirty calls with thinking, in turns and in rows, with switches between; the server checks
// each request.
func TestStream_ThirtyCalls(t *testing.T) {
	for _, tt := range []struct{ model, level string }{
		{"claude-sonnet-4-5", "high"}, {"claude-sonnet-4-5", ""}, {"claude-opus-5", ""}, {"claude-opus-5", "xhigh"}, {"claude-opus-5", "none"}, {"claude-fable-5-1", "low"},
	} {
		t.Run(tt.model+" "+tt.level, func(t *testing.T) {
			var steps []anthropictest.Step
			for i := range 20 {
				step := anthropictest.Step{Thinking: fmt.Sprint("thought ", i), Silent: i%5 == 4, Calls: []anthropictest.Call{{Name: "read", Input: `{"n":1}`}}}
				if i%2 == 1 {
					step.Redacted, step.Text = "redacted", "Look."
					step.Calls = append(step.Calls, anthropictest.Call{Name: "list", Input: `{}`})
				}
				steps = append(steps, step)
				if i%10 == 9 {
					steps = append(steps, anthropictest.Step{Thinking: "done", Text: "Done."})
				}
			}
			s := anthropictest.New(t, steps...)
			k := newTalk(t, s, nil)
			k.req.Model, k.req.ThoughtLevel = tt.model, tt.level
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
			replayed := strings.Count(string(exchanges[len(exchanges)-1].Body), `"signature":"`)
			off := tt.level == "none" || tt.level == "" && tt.model == "claude-sonnet-4-5"
			if want := 21; off && replayed != 0 || !off && replayed != want {
				t.Errorf("%d blocks of thinking in the last request", replayed)
			}
			checkPrefixes(t, exchanges)
		})
	}
}

// checkPrefixes holds each request to begin with the one before, but for the marks (R138).
func checkPrefixes(t *testing.T, exchanges []anthropictest.Exchange) {
	t.Helper()
	before := ""
	for i, x := range exchanges {
		now := strings.ReplaceAll(string(x.Body), `,"cache_control":{"type":"ephemeral"}`, "")
		if n := strings.Count(string(x.Body), "cache_control"); n < 3 || n > 4 {
			t.Errorf("request %d has %d marks", i, n)
		}
		if prefix := strings.TrimSuffix(before, "]}]}"); !strings.HasPrefix(now, prefix) {
			t.Errorf("request %d does not begin with the one before", i)
		}
		before = now
	}
}

// A switch of model leaves the thinking of another out, also with a budget in the middle of
// calls, where an answer must begin with thinking; back again, it is there.
func TestStream_SwitchOfModel(t *testing.T) {
	call := anthropictest.Step{Thinking: "t", Calls: []anthropictest.Call{{Name: "read", Input: `{}`}}}
	s := anthropictest.New(t, call, call, call, call)
	k := newTalk(t, s, nil)
	k.says(text("go"))
	for i, id := range []string{"claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-5", "claude-sonnet-4-5"} {
		if k.req.ThoughtLevel = "low"; id == "claude-opus-5" {
			k.req.ThoughtLevel = ""
		}
		k.req.Model = id
		k.must()
		if n := strings.Count(string(s.Exchanges()[i].Body), `"signature":"`); n != 0 && i < 3 {
			t.Errorf("%d blocks in request %d", n, i)
		}
	}
	check(t, s)
	last := string(s.Exchanges()[3].Body)
	if strings.Contains(last, `"budget_tokens"`) {
		t.Error("a budget after an answer that another model wrote")
	}
}

// Signatures of another account are refused; the conversation goes on without them.
func TestStream_StaleSignatures(t *testing.T) {
	call := anthropictest.Step{Thinking: "t", Calls: []anthropictest.Call{{Name: "read", Input: `{}`}}}
	old := anthropictest.New(t, call)
	k := newTalk(t, old, nil)
	k.says(text("go"))
	k.must()
	s := anthropictest.New(t, call, call)
	fresh := newTalk(t, s, nil)
	k.req.Messages[1].Origin = "anthropic " + s.URL + " " + k.req.Model // the same server with another key
	k.provider, k.req.Memo = fresh.provider, &model.Memo{}
	k.must()
	k.must()
	if broken := s.Broken(); len(broken) != 1 || !strings.Contains(broken[0], "Invalid `signature`") {
		t.Errorf("refused: %q", broken)
	}
	body := string(s.Exchanges()[2].Body)
	if strings.Count(body, `"signature"`) != 1 || !strings.Contains(body, `"budget_tokens"`) {
		t.Errorf("the third request has not exactly the new block, or no budget: %s", body)
	}
}

func TestStream_Stops(t *testing.T) {
	for stop, want := range map[string]model.FinishReason{
		"end_turn": model.Stop, "stop_sequence": model.Stop, "max_tokens": model.Length, "model_context_window_exceeded": model.Length,
		"refusal": model.Refusal, "pause_turn": model.Stop, "one_of_the_future": model.Stop,
	} {
		s := anthropictest.New(t, anthropictest.Step{Text: "Well.", Stop: stop})
		k := newTalk(t, s, nil)
		k.says(text("go"))
		a := k.must()
		if a.finish != want {
			t.Errorf("%s is %s, want %s", stop, a.finish, want)
		}
		if told := len(a.warnings) > 0; told != slices.Contains([]string{"model_context_window_exceeded", "pause_turn"}, stop) {
			t.Errorf("%s: %q", stop, a.warnings)
		}
	}
}

// The shapes are those of platform.claude.com/docs/en/api/errors; the texts are quoted in
// issues of github.com/docker/docker-agent (569) and github.com/anthropics/claude-code.
func TestStream_Errors(t *testing.T) {
	body := func(kind, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
	}
	for _, tt := range []struct {
		name  string
		step  anthropictest.Step
		kind  model.ErrorKind
		after time.Duration
		hint  string
		cut   bool
	}{
		{name: "key", step: anthropictest.Step{Status: 401, Body: body("authentication_error", "invalid x-api-key")}, kind: model.Auth, hint: "ANTHROPIC_API_KEY"},
		{name: "permission", step: anthropictest.Step{Status: 403, Body: body("permission_error", "no")}, kind: model.Auth},
		{name: "billing", step: anthropictest.Step{Status: 402, Body: body("billing_error", "no")}, kind: model.Auth, hint: "credit"},
		{name: "credit", step: anthropictest.Step{Status: 400, Body: body("invalid_request_error", "Your credit balance is too low to access the Anthropic API.")}, kind: model.Auth, hint: "credit"},
		{name: "spend limit", step: anthropictest.Step{Status: 429, Body: `{"type":"error","error":{"type":"rate_limit_error","message":"limit","details":{"error_code":"enforced_spend_limit_reached"}}}`}, kind: model.Auth},
		{name: "model", step: anthropictest.Step{Status: 404, Body: body("not_found_error", "model: claude-none")}, kind: model.Invalid, hint: "choose a model"},
		{name: "rate", step: anthropictest.Step{Status: 429, Header: map[string]string{"retry-after": "7"}, Body: body("rate_limit_error", "slow")}, kind: model.Transient, after: 7 * time.Second},
		{name: "overloaded", step: anthropictest.Step{Status: 529, Body: body("overloaded_error", "Overloaded")}, kind: model.Transient},
		{name: "overloaded in the stream", step: anthropictest.Step{Text: "a", Fail: "overloaded_error"}, kind: model.Transient, cut: true},
		{name: "invalid in the stream", step: anthropictest.Step{Text: "a", Fail: "invalid_request_error"}, kind: model.Invalid, cut: true},
		{name: "too long", step: anthropictest.Step{Status: 400, Body: body("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")}, kind: model.Overflow},
		{name: "too large", step: anthropictest.Step{Status: 413, Body: body("request_too_large", "Request exceeds the maximum size")}, kind: model.Overflow},
		{name: "no room", step: anthropictest.Step{Status: 400, Body: body("invalid_request_error", "input length and `max_tokens` exceed context limit: 199759 + 32000 > 200000, decrease input length or `max_tokens` and try again")}, kind: model.Overflow},
		{name: "cut", step: anthropictest.Step{Text: "some text", Cut: 5}, kind: model.Transient, cut: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := anthropictest.New(t, tt.step)
			k := newTalk(t, s, nil)
			k.says(text("go"))
			_, err := k.step()
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.RetryAfter != tt.after || e.Interrupted != tt.cut || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("got %#v", err)
			}
		})
	}
}
