package config

// The APIs that a model server may speak.
const (
	// APIChat is that of OpenAI-compatible servers, /chat/completions.
	APIChat = "chat"
	// APIResponses is OpenAI's Responses API, /responses.
	APIResponses = "responses"
	// APIAnthropic is Anthropic's Messages API, /v1/messages.
	APIAnthropic = "anthropic"
)

// AnthropicBaseURL is the server that is asked with APIAnthropic when no other is set.
const AnthropicBaseURL = "https://api.anthropic.com"

// The variables of the environment that count with APIAnthropic in place of EnvAPIKey,
// EnvBaseURL and EnvModel: what is set for servers of the one API is wrong for the other.
const (
	EnvAnthropicKey     = "ANTHROPIC_API_KEY"
	EnvAnthropicBaseURL = "ANTHROPIC_BASE_URL"
	EnvAnthropicModel   = "ANTHROPIC_MODEL"
)

// Hosted reports whether the server is the one that is asked by default, which wants a key.
func (m *Model) Hosted() bool {
	return m.BaseURL == DefaultBaseURL || m.API == APIAnthropic && m.BaseURL == AnthropicBaseURL
}

// BaseURLVariable is the variable that names the server.
func (m *Model) BaseURLVariable() string {
	if m.API == APIAnthropic {
		return EnvAnthropicBaseURL
	}
	return EnvBaseURL
}

// ModelVariable is the variable that names the model of new sessions.
func (m *Model) ModelVariable() string {
	if m.API == APIAnthropic {
		return EnvAnthropicModel
	}
	return EnvModel
}

// applyAPI gives what the user's file leaves open the defaults of its API. A choice of API
// is a choice of server, which what was stored by login does not replace.
func (f *file) applyAPI(m *Model) {
	if m.API != APIAnthropic {
		return
	}
	if _, set := f.where["model.base_url"]; !set {
		m.BaseURL, m.Origin.Server = AnthropicBaseURL, "model.api"
	}
	if _, set := f.where["model.api_key_env"]; !set {
		m.APIKeyEnv = EnvAnthropicKey
	}
}
