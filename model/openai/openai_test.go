package openai_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canary is a key that must show up in the Authorization header only.
const canary = "sk-canary-0123456789abcdef"

func provider(t testing.TB, s *modeltest.Server, change ...func(*openai.Options)) *openai.Provider {
	t.Helper()
	opts := openai.Options{BaseURL: s.URL, APIKey: canary}
	for _, f := range change {
		f(&opts)
	}
	p, err := openai.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func user(text string) *transcript.Message {
	return &transcript.Message{Role: transcript.User, Finished: true, Parts: []transcript.Part{&transcript.TextPart{Text: text}}}
}

func request(messages ...*transcript.Message) *model.Request {
	if len(messages) == 0 {
		messages = []*transcript.Message{user("hello")}
	}
	return &model.Request{Model: "fake", System: "be good", Messages: messages, Memo: &model.Memo{}}
}

// call is a tool call put together.
type call struct{ ID, Name, Arguments string }

// answer is a step put together.
type answer struct {
	Text, Reasoning string
	Calls           []call
	Usage           *transcript.Usage
	Reason          model.FinishReason
	Model           string
	Chunks          int
}

// ask makes a step and checks what holds for all of them.
func ask(ctx context.Context, t testing.TB, p model.Provider, req *model.Request) (answer, error) {
	t.Helper()
	var a answer
	ids := map[string]bool{}
	for c, err := range p.Stream(ctx, req) {
		if a.Reason != "" {
			t.Fatal("something came after the finish")
		}
		if err != nil {
			return a, err
		}
		a.Chunks++
		switch c.Kind {
		case model.Text:
			a.Text += c.Text
		case model.Reasoning:
			a.Reasoning += c.Text
		case model.ToolCall:
			if c.Index == len(a.Calls) {
				if c.ID == "" || ids[c.ID] {
					t.Errorf("id %q is empty or not unique", c.ID)
				}
				ids[c.ID] = true
				a.Calls = append(a.Calls, call{ID: c.ID, Name: c.Name})
			}
			if c.Index >= len(a.Calls) || a.Calls[c.Index].ID != c.ID {
				t.Fatalf("piece for call %d (%s) of %+v", c.Index, c.ID, a.Calls)
			}
			a.Calls[c.Index].Arguments += c.Arguments
		case model.Usage:
			if a.Usage != nil {
				t.Error("usage came twice")
			}
			a.Usage = c.Usage
		case model.Finish:
			a.Reason, a.Model = c.Reason, c.Model
		}
	}
	if a.Reason == "" {
		t.Error("the stream ended without a finish and without an error")
	}
	return a, nil
}

// short makes the timeouts of a test short.
func short(o *openai.Options) {
	o.IdleTimeout, o.StartTimeout = 50*time.Millisecond, 50*time.Millisecond
}
