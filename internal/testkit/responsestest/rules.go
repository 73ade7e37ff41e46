package responsestest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// request is the body of a request, as far as rules look at it.
type request struct {
	Model        string
	Store        *bool
	Stream       bool
	Include      []string
	Input        []json.RawMessage
	Instructions *string
	Temperature  *float64
	MaxTokens    *int   `json:"max_output_tokens"`
	CacheKey     string `json:"prompt_cache_key"`
	Reasoning    *struct{ Effort, Summary string }
	Tools        []struct {
		Type, Name string
		Strict     *bool
		Parameters struct {
			Type       string
			Additional *bool `json:"additionalProperties"`
		}
	}
}

// members lists what a request may contain
// (developers.openai.com/api/reference/resources/responses). The error is
// quoted in github.com/madox2/vim-ai/issues/162 and lobehub/lobehub pull 8163.
var members = []string{
	"background", "conversation", "include", "input", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model",
	"parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_retention", "reasoning", "safety_identifier",
	"service_tier", "store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user",
}

// includes are the values of include (the same page).
var includes = []string{
	"web_search_call.action.sources", "code_interpreter_call.outputs", "computer_call_output.output.image_url",
	"file_search_call.results", "message.input_image.image_url", "message.output_text.logprobs", "reasoning.encrypted_content",
}

var nameForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// judge returns what a request breaks, nil when it is well.
func (s *Server) judge(header http.Header, body []byte) *problem {
	if !strings.HasPrefix(header.Get("Authorization"), "Bearer ") {
		return &problem{status: http.StatusUnauthorized, text: "You didn't provide an API key.", code: "invalid_api_key"}
	}
	if !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		return bad("", "We could not parse the JSON body of your request.")
	}
	var all map[string]json.RawMessage
	var r request
	if json.Unmarshal(body, &all) != nil || json.Unmarshal(body, &r) != nil {
		return bad("", "We could not parse the JSON body of your request.")
	}
	for name := range all {
		if !slices.Contains(members, name) {
			return &problem{status: http.StatusBadRequest, text: "Unknown parameter: '" + name + "'.", param: name, code: "unknown_parameter"}
		}
	}
	if s.Blind != "" && bytes.Contains(body, []byte(`"type":"input_image"`)) {
		return bad("", "%s", s.Blind)
	}
	for _, rule := range []func(*request) *problem{s.basics, s.parameters, s.tools, s.input} {
		if found := rule(&r); found != nil {
			return found
		}
	}
	return nil
}

// basics: what each request has, and what ours are to have: they are streamed, and nothing of
// them is stored.
func (s *Server) basics(r *request) *problem {
	switch {
	case r.Model == "":
		return bad("model", "Missing required parameter: 'model'.")
	case len(r.Input) == 0:
		return bad("input", "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.")
	case !r.Stream:
		return bad("stream", "responsestest: the request is not streamed")
	case r.Store == nil || *r.Store:
		return bad("store", "responsestest: the request would be stored")
	case !s.Plain && !slices.Contains(r.Include, "reasoning.encrypted_content"):
		return bad("include", "responsestest: the reasoning would be lost")
	}
	return nil
}

// parameters: models that do not think take neither reasoning
// (github.com/BerriAI/litellm/pull/38842) nor its encrypted form
// (github.com/microsoft/agent-framework/issues/7483), and models that do take no temperature;
// an account needs to be entitled to summaries (github.com/openai/openai-cookbook/issues/2271);
// answers have 16 tokens at least (github.com/vectorize-io/hindsight/issues/58), and cache keys
// 64 characters at most (github.com/theopenco/llmgateway/pull/3110).
func (s *Server) parameters(r *request) *problem {
	unsupported := func(param string) *problem {
		p := bad(param, "Unsupported parameter: '%s' is not supported with this model.", param)
		p.code = "unsupported_parameter"
		return p
	}
	if i := slices.IndexFunc(r.Include, func(v string) bool { return !slices.Contains(includes, v) }); i >= 0 {
		return bad("include", "Invalid value: '%s'. Supported values are: '%s'.", r.Include[i], strings.Join(includes, "', '"))
	}
	if s.Plain {
		switch {
		case r.Reasoning != nil && r.Reasoning.Effort != "":
			return unsupported("reasoning.effort")
		case r.Reasoning != nil && r.Reasoning.Summary != "":
			return unsupported("reasoning.summary")
		case slices.Contains(r.Include, "reasoning.encrypted_content"):
			return bad("include", "Encrypted content is not supported with this model.")
		}
	} else if r.Temperature != nil {
		return unsupported("temperature")
	}
	if r.Reasoning != nil {
		if e := r.Reasoning.Effort; e != "" && s.Efforts != nil && !slices.Contains(s.Efforts, e) {
			p := bad("reasoning.effort", "Unsupported value: '%s' is not supported with the '%s' model. Supported values are: '%s'.", e, r.Model, strings.Join(s.Efforts, "', '"))
			p.code = "unsupported_value"
			return p
		}
		if r.Reasoning.Summary != "" && s.Unverified {
			p := bad("reasoning.summary", "Your organization must be verified to generate reasoning summaries.")
			p.code = "unsupported_value"
			return p
		}
	}
	switch {
	case r.MaxTokens != nil && *r.MaxTokens < 16:
		return bad("max_output_tokens", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", *r.MaxTokens)
	case len(r.CacheKey) > 64:
		return bad("prompt_cache_key", "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", len(r.CacheKey))
	}
	return nil
}

// tools: functions are strict unless one says otherwise, and a strict one has a schema of a
// certain form (developers.openai.com/api/docs/guides/function-calling, Strict mode).
func (*Server) tools(r *request) *problem {
	for i, t := range r.Tools {
		switch {
		case t.Type != "function":
			return bad("tools", "Invalid value: '%s'.", t.Type)
		case !nameForm.MatchString(t.Name):
			return bad("tools", "Invalid 'tools[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		case t.Parameters.Type != "object":
			return bad("tools", "Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'.", t.Name)
		case (t.Strict == nil || *t.Strict) && (t.Parameters.Additional == nil || *t.Parameters.Additional):
			return bad("tools", "Invalid schema for function '%s': In context=(), 'additionalProperties' is required to be supplied and to be false.", t.Name)
		}
	}
	return nil
}
