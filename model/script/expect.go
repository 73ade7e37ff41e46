package script

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/model"
	"acp-agent/transcript"
)

// expect is what a step demands of its request.
type expect struct {
	LastUser   string   `json:"last_user"`
	LastResult string   `json:"last_result"`
	LastImages int      `json:"last_images"`
	Told       string   `json:"told"`
	NotTold    string   `json:"not_told"`
	System     string   `json:"system"`
	NotSystem  string   `json:"not_system"`
	Tools      []string `json:"tools"`
	NoTools    []string `json:"no_tools"`
	Model      string   `json:"model"`
	Messages   int      `json:"messages"`
	// Temperature and MaxTokens are what the request has to carry (R66).
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
}

// check says what of the request is not as expected; nil when all is.
func (e *expect) check(s *scope) error {
	if e == nil {
		return nil
	}
	last, images := "", 0
	if len(s.calls) > 0 {
		call := s.calls[len(s.calls)-1]
		last, images = call.Text, len(call.Images)
	}
	for _, want := range []struct{ what, got, part string }{
		{"prompt", s.user, e.LastUser},
		{"last result", last, e.LastResult},
		{"text that the agent put there", told(s.req.Messages), e.Told},
		{"system prompt", s.req.System, e.System},
	} {
		if !strings.Contains(want.got, want.part) {
			return fmt.Errorf("expected %q in the %s, got %.400q", want.part, want.what, want.got)
		}
	}
	if e.LastImages != 0 && e.LastImages != images {
		return fmt.Errorf("expected %d images with the last result, got %d", e.LastImages, images)
	}
	if e.NotSystem != "" && strings.Contains(s.req.System, e.NotSystem) {
		return fmt.Errorf("expected no %q in the system prompt", e.NotSystem)
	}
	if e.NotTold != "" && strings.Contains(told(s.req.Messages), e.NotTold) {
		return fmt.Errorf("expected no %q in the text that the agent put there", e.NotTold)
	}
	if e.Model != "" && e.Model != s.req.Model {
		return fmt.Errorf("expected model %q, got %q", e.Model, s.req.Model)
	}
	if e.Messages != 0 && e.Messages != len(s.req.Messages) {
		return fmt.Errorf("expected %d messages, got %d", e.Messages, len(s.req.Messages))
	}
	if err := e.checkSampling(s.req); err != nil {
		return err
	}
	return e.checkTools(s.req.Tools)
}

func (e *expect) checkSampling(req *model.Request) error {
	if want, got := e.Temperature, req.Temperature; want != nil && (got == nil || *got != *want) {
		text := "none"
		if got != nil {
			text = fmt.Sprint(*got)
		}
		return fmt.Errorf("expected temperature %v, got %s", *want, text)
	}
	if e.MaxTokens != 0 && e.MaxTokens != req.MaxTokens {
		return fmt.Errorf("expected max_tokens %d, got %d", e.MaxTokens, req.MaxTokens)
	}
	return nil
}

// told is the text that the agent itself put into the last user message, which the
// model sees and the user does not, and the messages that it put before that one, since
// the model's answer, and after it.
func told(messages []*transcript.Message) string {
	var texts []string
	seen := false // the last user message
	for _, m := range slices.Backward(messages) {
		switch {
		case m.Synthetic:
			texts = append(texts, model.Note(m))
		case m.Role == transcript.User && !seen:
			texts, seen = append(texts, hidden(m)), true
		case seen:
			return joined(texts)
		}
	}
	return joined(texts)
}

// joined puts the texts that were found from the last one on in their order.
func joined(texts []string) string {
	slices.Reverse(texts)
	return strings.Join(texts, "\n")
}

// hidden is the text of a user message that the user does not see.
func hidden(m *transcript.Message) string {
	text := ""
	for _, part := range m.Parts {
		if t, ok := part.(*transcript.TextPart); ok && t.Synthetic {
			text += t.Text
		}
	}
	return text
}

func (e *expect) checkTools(tools []model.Tool) error {
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	for _, name := range e.Tools {
		if !slices.Contains(names, name) {
			return fmt.Errorf("expected tool %q, got %q", name, names)
		}
	}
	for _, name := range e.NoTools {
		if slices.Contains(names, name) {
			return fmt.Errorf("expected no tool %q, got %q", name, names)
		}
	}
	return nil
}
