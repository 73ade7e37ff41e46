package responses_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"acp-agent/internal/testkit/responsestest"
	"acp-agent/model/openai"
	"acp-agent/model/responses"
	"acp-agent/transcript"
)

func newChoice(t *testing.T, s *responsestest.Server, families ...string) (k *talk, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	p, err := responses.NewChoice(chat(t, s, func(o *openai.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) }), families)
	if err != nil {
		t.Fatal(err)
	}
	k = newTalk(t, s)
	k.provider = p
	return k, log
}

// paths returns the paths that were requested.
func paths(s *responsestest.Server) string {
	var list []string
	for _, x := range s.Exchanges() {
		list = append(list, strings.TrimPrefix(x.Path, "/v1/"))
	}
	return strings.Join(list, " ")
}

// A server that names the other API is asked there at once and from then on; the user sees
// no error and nothing of the model's is lost.
func TestChoice_ServerSays(t *testing.T) {
	for _, said := range []string{
		"This model is only supported in v1/responses and not in v1/chat/completions.",
		"Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
		"This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?",
		"Unsupported legacy protocol: /v1/chat/completions is not supported. Please use /v1/responses.",
	} {
		s := responsestest.New(t, responsestest.Step{Text: "a"}, responsestest.Step{Text: "b"})
		s.ResponsesOnly = said
		k, log := newChoice(t, s)
		k.says(text("go"), &transcript.ImagePart{MediaType: "image/png", Data: "aGk="})
		a := k.must()
		k.says(text("on"))
		k.must()
		check(t, s)
		if got := paths(s); got != "chat/completions responses responses" {
			t.Errorf("%s: asked %s", said, got)
		}
		if len(a.warnings) > 0 || strings.Count(log.String(), "wants another API") != 1 {
			t.Errorf("told %q, logged %s", a.warnings, log)
		}
	}
}

// A family is asked in the Responses API at once, and in the other API where the server does not have it.
func TestChoice_Family(t *testing.T) {
	s := responsestest.New(t, responsestest.Step{Text: "a"})
	k, _ := newChoice(t, s, "gpt-test")
	k.says(text("go"))
	k.must()
	if got := paths(s); got != "responses" {
		t.Errorf("asked %s", got)
	}
	s = responsestest.New(t, responsestest.Step{Text: "a"}, responsestest.Step{Text: "b"})
	s.NoResponses = true
	k, log := newChoice(t, s, "gpt-test")
	k.says(text("go"))
	if a := k.must(); a.Text() != "a" || !strings.HasPrefix(a.Origin, "chat ") {
		t.Errorf("answered %q of %q", a.Text(), a.Origin)
	}
	k.says(text("on"))
	k.must()
	if got := paths(s); got != "responses chat/completions chat/completions" || strings.Count(log.String(), "wants another API") != 1 {
		t.Errorf("asked %s, logged %s", got, log)
	}
}

// Two APIs that name each other end in an error.
func TestChoice_NoEnd(t *testing.T) {
	s := responsestest.New(t, responsestest.Step{Status: 404, Body: `{"error":{"message":"Not Found"}}`}, responsestest.Step{Status: 404, Body: `{"error":{"message":"Not Found"}}`})
	s.ResponsesOnly = "use v1/responses"
	k, _ := newChoice(t, s)
	k.says(text("go"))
	for range 2 {
		if _, err := k.step(); err == nil {
			t.Fatal("no error")
		}
	}
	if got := paths(s); got != "chat/completions responses responses" {
		t.Errorf("asked %s", got)
	}
}
