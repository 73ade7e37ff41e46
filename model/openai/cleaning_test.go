package openai_test

import (
	"strings"
	"testing"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/transcript"
)

// What is to be kept from the model is in no body, and the key still in its header.
func TestProvider_CleansBodies(t *testing.T) {
	server := modeltest.New(t, modeltest.Step{Status: 500, Body: "{}"}, modeltest.Step{Text: "Here.", Repeat: -1})
	p, err := openai.New(openai.Options{
		BaseURL: server.URL, APIKey: "the-key",
		Clean: func(text string) string { return strings.ReplaceAll(text, "the-key", "[redacted]") },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	said := &transcript.Message{Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: "it is the-key, and more"}}}
	for range 2 { // a failure, then an answer
		for _, err := range p.Stream(t.Context(), &model.Request{Model: "m", System: "the-key", Messages: []*transcript.Message{said}}) {
			if err != nil {
				break
			}
		}
	}
	seen := 0
	for _, request := range server.Requests() {
		body := string(request.Body)
		if strings.Contains(body, "the-key") {
			t.Errorf("it was sent: %s", body)
		}
		if strings.Contains(body, "it is [redacted], and more") {
			seen++
		}
		if request.Header.Get("Authorization") != "Bearer the-key" {
			t.Errorf("the header is %q", request.Header.Get("Authorization"))
		}
	}
	if seen < 2 {
		t.Errorf("%d requests with the message", seen)
	}
}
