package anthropictest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// request is what may stand in the body of a request; other members are refused ("Extra
// inputs are not permitted"). Names are those of the official SDK's MessageCreateParams.
type request struct {
	Model     string    `json:"model"`
	MaxTokens *int      `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	System    []block   `json:"system"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools"`
	Temp      *float64  `json:"temperature"`
	Thinking  *struct {
		Type    string `json:"type"`
		Budget  *int   `json:"budget_tokens"`
		Display string `json:"display"`
	} `json:"thinking"`
	Output *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cache          `json:"cache_control"`
}

type cache struct {
	Type string `json:"type"`
}

// block is a content block of any type.
type block struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUse   string          `json:"tool_use_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Content   []block         `json:"content,omitempty"`
	Source    *source         `json:"source,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// judge returns the error that the API answers with, or nothing. The methods that it calls are each
// named after what they check, and say first which rule that is and where it is published.
func (s *Server) judge(header http.Header, body []byte) (status int, kind, problem string) {
	// platform.claude.com/docs/en/api/overview, Authentication.
	if header.Get("X-Api-Key") == "" {
		return http.StatusUnauthorized, "authentication_error", "x-api-key header is required"
	}
	var r request
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	var problems []string
	if err := dec.Decode(&r); err != nil {
		problems = append(problems, err.Error())
	} else {
		problems = slices.Concat(headers(header), r.parameters(), r.tools(), r.cacheMarks(), r.order(), r.results(), s.thinking(&r))
	}
	if len(problems) > 0 {
		return http.StatusBadRequest, "invalid_request_error", strings.Join(problems, "; ")
	}
	return 0, "", ""
}

// headers: platform.claude.com/docs/en/api/versioning ("anthropic-version: header is
// required").
func headers(h http.Header) (problems []string) {
	if h.Get("Anthropic-Version") != "2023-06-01" {
		problems = append(problems, "anthropic-version: header is required")
	}
	if !strings.HasPrefix(h.Get("Content-Type"), "application/json") {
		problems = append(problems, "content-type: application/json is required")
	}
	return problems
}

// parameters: platform.claude.com/docs/en/api/messages; extended-thinking for budgets and
// temperature; adaptive-thinking and effort for what replaces them.
func (r *request) parameters() (problems []string) {
	limit := 0
	if r.MaxTokens == nil || *r.MaxTokens < 1 {
		problems = append(problems, "max_tokens: Field required")
	} else if limit = *r.MaxTokens; limit > 128_000 {
		problems = append(problems, fmt.Sprintf("max_tokens: %d > 128000, which is the maximum allowed number of output tokens for %s", limit, r.Model))
	}
	if r.Model == "" || !r.Stream {
		problems = append(problems, "model and stream: Field required")
	}
	budgets := slices.ContainsFunc([]string{"claude-3-7", "claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5"}, func(p string) bool { return strings.HasPrefix(r.Model, p) })
	if t := r.Thinking; t != nil {
		switch {
		case t.Type == "enabled" && !budgets:
			problems = append(problems, `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`)
		case t.Type == "enabled" && (t.Budget == nil || *t.Budget < 1024):
			problems = append(problems, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
		case t.Type == "enabled" && *t.Budget >= limit:
			problems = append(problems, "`max_tokens` must be greater than `thinking.budget_tokens`")
		case t.Type == "adaptive" && (budgets || t.Budget != nil):
			problems = append(problems, "adaptive thinking is not supported on this model")
		case !slices.Contains([]string{"enabled", "adaptive", "disabled"}, t.Type):
			problems = append(problems, "thinking: Input tag does not match")
		}
		if r.Temp != nil && *r.Temp != 1 && t.Type != "disabled" {
			problems = append(problems, "`temperature` may only be set to 1 when thinking is enabled")
		}
	}
	if r.Output != nil && (budgets || !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, r.Output.Effort)) {
		problems = append(problems, "output_config.effort: this model does not support it")
	}
	return problems
}

// plainName is the form of a tool's name, and of the id of a call.
var plainName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// tools: platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools; names are unique
// ("Tool names must be unique").
func (r *request) tools() (problems []string) {
	seen := map[string]bool{}
	for i, t := range r.Tools {
		var schema struct{ Type string }
		if !plainName.MatchString(t.Name) || seen[t.Name] {
			problems = append(problems, fmt.Sprintf("tools.%d.name: bad or used twice", i))
		}
		if json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object" {
			problems = append(problems, fmt.Sprintf("tools.%d.input_schema.type: Field required", i))
		}
		seen[t.Name] = true
	}
	return problems
}

// cacheMarks: at most four, and none on thinking
// (platform.claude.com/docs/en/build-with-claude/prompt-caching).
func (r *request) cacheMarks() (problems []string) {
	count := 0
	add := func(c *cache) {
		if c != nil {
			if count++; c.Type != "ephemeral" {
				problems = append(problems, "cache_control.type: Input should be 'ephemeral'")
			}
		}
	}
	for _, t := range r.Tools {
		add(t.Cache)
	}
	for _, b := range r.System {
		add(b.Cache)
	}
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if add(b.Cache); b.Cache != nil && strings.HasSuffix(b.Type, "thinking") {
				problems = append(problems, "thinking: cache_control: Extra inputs are not permitted")
			}
		}
	}
	if count > 4 {
		problems = append(problems, fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", count))
	}
	return problems
}

// order: the first message is the user's and roles take turns; the last one is the user's
// (platform.claude.com/docs/en/api/errors, Prefill not supported); blocks are not empty ("text content blocks must be
// non-empty", "must contain non-whitespace text").
func (r *request) order() (problems []string) {
	if len(r.Messages) == 0 {
		return []string{"messages: at least one message is required"}
	}
	for i, m := range r.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			problems = append(problems, fmt.Sprintf("messages: roles must alternate: messages.%d is %s", i, m.Role))
		}
		if len(m.Content) == 0 {
			problems = append(problems, fmt.Sprintf("messages.%d: all messages must have non-empty content", i))
		}
		for j, b := range m.Content {
			for _, problem := range b.problems(m.Role) {
				problems = append(problems, fmt.Sprintf("messages.%d.content.%d: %s", i, j, problem))
			}
		}
	}
	if r.Messages[len(r.Messages)-1].Role != "user" {
		problems = append(problems, "This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	for _, b := range r.System {
		if b.Type != "text" || b.Text == nil || strings.TrimSpace(*b.Text) == "" {
			problems = append(problems, "system: text content blocks must be non-empty")
		}
	}
	return problems
}

// problems: images are of four kinds (build-with-claude/vision), inputs are objects ("Input
// should be a valid dictionary"), ids are plain (github.com/HKUDS/nanobot/pull/4356), an error
// is told in text (github.com/vellum-ai/vellum-assistant/pull/18387).
func (b *block) problems(role string) (list []string) {
	roles := map[string]string{ // that may send a block, by its type
		"text": "user assistant", "image": "user", "tool_result": "user",
		"tool_use": "assistant", "thinking": "assistant", "redacted_thinking": "assistant",
	}
	if !strings.Contains(roles[b.Type], role) {
		return []string{"a block " + b.Type + " of the " + role}
	}
	switch b.Type {
	case "text":
		if b.Text == nil || strings.TrimSpace(*b.Text) == "" {
			list = append(list, "text content blocks must contain non-whitespace text")
		}
	case "image":
		if s := b.Source; s == nil || s.Type != "base64" || !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, s.MediaType) {
			list = append(list, "image.source: bad")
		} else if _, err := base64.StdEncoding.DecodeString(s.Data); err != nil {
			list = append(list, "image.source.base64.data: invalid base64 data")
		}
	case "tool_use":
		if !plainName.MatchString(b.ID) || !plainName.MatchString(b.Name) {
			list = append(list, "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
		}
		if len(b.Input) == 0 || b.Input[0] != '{' {
			list = append(list, "tool_use.input: Input should be a valid dictionary")
		}
	case "tool_result":
		for _, inner := range b.Content {
			if inner.Type != "text" && (b.IsError || inner.Type != "image") {
				list = append(list, "tool_result: all content must be type `text` if `is_error` is true")
			}
			list = append(list, inner.problems("user")...)
		}
	}
	return list
}
