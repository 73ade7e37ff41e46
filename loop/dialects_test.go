package loop_test

import (
	"bytes"
	"context"
	"testing"

	"acp-agent/internal/testkit/anthropictest"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/responsestest"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/model/anthropic"
	"acp-agent/model/openai"
	"acp-agent/model/responses"
	"acp-agent/transcript"
)

// talk is a conversation that servers of several dialects take part in.
type talk struct {
	log  *transcript.Log
	memo *model.Memo
}

func newTalk(messages ...*transcript.Message) *talk {
	return &talk{transcript.NewLog(messages...), &model.Memo{}}
}

// turn lets the model of a server answer a prompt to the end.
func (k *talk) turn(t *testing.T, s *modeltest.Strict, p *openai.Provider, text string) {
	t.Helper()
	before := len(s.Requests())
	stop, err := loop.New(loop.Options{
		Provider: p, Tools: &fakeTools{}, Log: k.log, Sink: transcript.Discard, IDs: &transcript.IDs{}, System: "be good",
		Model: s.Rule.Model, Window: func() int { return 0 }, Memo: k.memo,
	}).Turn(context.Background(), &transcript.Message{Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: text}}})
	if err != nil || stop != loop.EndTurn {
		t.Fatalf("%s ends with %q, %v; it refused %q", s.Rule.Name, stop, err, s.Refused())
	}
	if n := len(s.Requests()) - before; n < s.Calls+1 {
		t.Fatalf("%s was asked %d times, for %d calls", s.Rule.Name, n, s.Calls)
	}
}

// client is a provider for a server, by the address that its users configure or by one that
// says nothing of what it is.
func client(t *testing.T, s *modeltest.Strict, known bool) *openai.Provider {
	t.Helper()
	options := openai.Options{BaseURL: s.URL, APIKey: "key-of-" + s.Rule.Name}
	if known {
		options.BaseURL, options.Transport = s.Rule.BaseURL, s.Transport()
	}
	p, err := openai.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// A task of 16 steps with thinking goes through in each dialect, what the server refuses is
// learned once, and the session goes on when it was stored and loaded.
func TestDialects_LongTask(t *testing.T) {
	for _, rule := range modeltest.Rules() {
		for _, known := range []bool{true, false} {
			name, calls := rule.Name, 16
			if !known {
				name, calls = name+" at an unknown address", 7
			}
			t.Run(name, func(t *testing.T) {
				s := modeltest.NewStrict(t, rule, calls)
				p := client(t, s, known)
				first := newTalk()
				first.turn(t, s, p, "do it")
				newTalk(modeltest.Stored(t, first.log.Messages())...).turn(t, s, p, "go on")
				first.turn(t, s, p, "and on")
				want := rule.Learned
				if known {
					want = rule.Known
				}
				if want == 0 {
					checkPrefix(t, s)
				}
				if got := s.Refused(); len(got) > want {
					t.Errorf("it refused %d requests, want at most %d: %q", len(got), want, got)
				}
				if rule.Source == "" {
					t.Error("the rule has no source")
				}
			})
		}
	}
}

// checkPrefix holds that each request goes on where the one before it ended, so that caches
// hit (R138); of a server that wants reasoning of the current turn alone, within a turn.
func checkPrefix(t *testing.T, s *modeltest.Strict) {
	t.Helper()
	requests, turn := s.Requests(), s.Calls+1
	forgets := s.Rule.Content != nil && s.Rule.Content(0, "", true) != s.Rule.Content(0, "", false)
	for i := range len(requests) - 1 {
		from, to := i, i+1
		if to%turn == 0 {
			if forgets {
				continue
			}
			from = turn - 1 // both later prompts follow the first answer
		}
		prefix := bytes.TrimSuffix(requests[from].Body, []byte(`]}`))
		if !bytes.HasPrefix(requests[to].Body, prefix) {
			t.Fatalf("request %d does not go on from request %d:\n%s\n%s", to, from, requests[from].Body, requests[to].Body)
		}
	}
}

// side is a server and a client of it, one of several that take turns in a conversation.
type side struct {
	name, model string
	provider    model.Provider
	// ready prepares the server for a prompt, to be answered with a call and a text.
	ready   func()
	refused func() []string
	// known is how many requests it may refuse.
	known int
	// thoughts counts those in the last request, of which two turns leave three; nil for a
	// server that refuses a request without them.
	thoughts func() int
}

// sides are a server of each dialect; each call makes new ones.
func sides(t *testing.T) []func() side {
	t.Helper()
	var list []func() side
	for _, rule := range modeltest.Rules() {
		list = append(list, func() side {
			s := modeltest.NewStrict(t, rule, 1)
			return side{rule.Name, rule.Model, client(t, s, true), func() {}, s.Refused, rule.Known, nil}
		})
	}
	return append(list, func() side {
		s := anthropictest.New(t)
		p, err := anthropic.New(anthropic.Options{BaseURL: s.URL, APIKey: "k"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return side{"anthropic", "claude-opus-5", p, func() {
			s.Add(anthropictest.Step{Thinking: "t", Redacted: "r", Calls: []anthropictest.Call{{Name: "read", Input: `{}`}}}, anthropictest.Step{Thinking: "u", Text: "Done."})
		}, s.Broken, 0, func() int {
			return lastCount(s.Exchanges(), func(x anthropictest.Exchange) []byte { return x.Body }, `"signature":"`)
		}}
	}, func() side {
		s := responsestest.New(t)
		chat, err := openai.New(openai.Options{BaseURL: s.URL, APIKey: "k"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := responses.New(chat)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return side{"responses", "gpt-test-9", p, func() {
			s.Add(responsestest.Step{Thoughts: []string{"t"}, Comment: "I look.", Calls: []responsestest.Call{{Name: "read", Arguments: `{}`}}}, responsestest.Step{Silent: true, Text: "Done."})
		}, s.Broken, 0, func() int {
			return lastCount(s.Exchanges(), func(x responsestest.Exchange) []byte { return x.Body }, `"encrypted_content":"`)
		}}
	})
}

// lastCount counts a text in the body of the last exchange.
func lastCount[T any](exchanges []T, body func(T) []byte, text string) int {
	return bytes.Count(body(exchanges[len(exchanges)-1]), []byte(text))
}

// takes lets a side answer a prompt to the end.
func (s *side) takes(t *testing.T, k *talk, text string) {
	t.Helper()
	s.ready()
	stop, err := loop.New(loop.Options{
		Provider: s.provider, Tools: &fakeTools{}, Log: k.log, Sink: transcript.Discard, IDs: &transcript.IDs{}, System: "be good",
		Model: s.model, Window: func() int { return 0 }, Memo: k.memo,
	}).Turn(context.Background(), &transcript.Message{Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: text}}})
	if err != nil || stop != loop.EndTurn {
		t.Fatalf("%s ends with %q, %v; it refused %q", s.name, stop, err, s.refused())
	}
}

// Each pair of servers can take turns in one conversation: neither is sent what is the
// other's, and each has its own again when it returns.
func TestDialects_Pairs(t *testing.T) {
	all := sides(t)
	for i := range all {
		for j := range i {
			one, other := all[i](), all[j]()
			t.Run(one.name+" and "+other.name, func(t *testing.T) {
				k := newTalk()
				for _, text := range []string{"one", "two"} {
					one.takes(t, k, text)
					other.takes(t, k, text)
				}
				for _, s := range []side{one, other} {
					if got := s.refused(); len(got) > s.known {
						t.Errorf("%s refused %q", s.name, got)
					}
					if s.thoughts != nil && s.thoughts() != 3 {
						t.Errorf("%s had %d of its thoughts back, want 3", s.name, s.thoughts())
					}
				}
			})
		}
	}
}
