package models

import (
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
)

// R28: a picture of a prompt reaches a model without a description, as the answer to
// initialize promises. When its server refuses it the turn goes on without, and the user
// is told once.
func TestImages_ToAnUnknownModel(t *testing.T) {
	t.Parallel()
	picture := map[string]any{"type": "image", "mimeType": "image/png", "data": "aGk="}
	for _, tt := range []struct {
		name   string
		steps  []modeltest.Step
		bodies []bool // whether each request has the picture
		warned bool
	}{
		{"taken", []modeltest.Step{{Text: "I see."}}, []bool{true}, false},
		{"refused", []modeltest.Step{
			{Status: 400, Body: `{"message":"fake is not a multimodal model","type":"BadRequestError","code":400}`}, {Text: "I cannot see it."},
		}, []bool{true, false}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(t, tt.steps...)
			agent := acptest.Start(t, acptest.Options{Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake", "OPENAI_API_KEY=sk-images"}})
			agent.Initialize("")
			session := agent.NewSession(t.TempDir())
			session.PromptBlocks(map[string]any{"type": "text", "text": "look"}, picture).Ends("end_turn")
			var got []bool
			for _, r := range server.Requests() {
				if strings.Contains(string(r.Body), `"tools":[`) { // those of the main agent
					got = append(got, strings.Contains(string(r.Body), "image_url"))
				}
			}
			if !slices.Equal(got, tt.bodies) {
				t.Errorf("requests with the picture: %v, want %v", got, tt.bodies)
			}
			if text := session.Text(); strings.Contains(text, "takes no images") != tt.warned || !strings.HasSuffix(strings.TrimSpace(text), tt.steps[len(tt.steps)-1].Text) {
				t.Errorf("the agent said %q", text)
			}
		})
	}
}
