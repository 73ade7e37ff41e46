package config

import "encoding/json"

// DefaultBaseURL is the server that is asked when nothing else is set.
const DefaultBaseURL = "https://api.openai.com/v1"

// Model says which model of which server answers.
type Model struct {
	// Name is the model of a new session; empty means that none was chosen.
	Name string `json:"name"`
	// API is what the server speaks: APIChat, APIResponses or APIAnthropic; "" is what its
	// preset says, and APIChat without one.
	API string `json:"api"`
	// BaseURL is an http or https address without user, query and fragment, and
	// without a slash at the end.
	BaseURL string `json:"base_url"`
	// APIKey is the key that is sent; zero means none, which local servers accept.
	APIKey Secret `json:"api_key"`
	// APIKeyEnv names the variable whose value, if set, is used instead of APIKey.
	APIKeyEnv string `json:"api_key_env"`
	// Origin says where BaseURL and the key were named.
	Origin Origin `json:"-"`
	// Headers are sent with every request.
	Headers map[string]Secret `json:"headers"`
	// Window is the context window in tokens; 0 means what is known of the model.
	Window int `json:"window"`
	// Windows are windows by name of model; they come before Window.
	Windows map[string]int `json:"windows"`
	// Images says whether the model takes pictures; nil means what is known of it.
	Images *bool `json:"images"`
	// ThoughtLevel is the reasoning effort of a new session; empty means the server's.
	ThoughtLevel string `json:"thought_level"`
	// MaxOutput is the most tokens of one step; 0 means the server's own limit.
	MaxOutput int `json:"max_output"`
	// Temperature is sent when it is not nil.
	Temperature *float64 `json:"temperature"`
	// Prices are what a million tokens cost, by name of model; a model without one has
	// no cost.
	Prices map[string]Price `json:"prices"`
	// IdleTimeout is how long the server may be silent within an answer, StartTimeout how
	// long before it, ContentTimeout how long it may send events without content, and
	// KeepAliveTimeout how long it may say that it is busy; 0 means the built-in limit.
	IdleTimeout      Duration `json:"idle_timeout"`
	StartTimeout     Duration `json:"start_timeout"`
	ContentTimeout   Duration `json:"content_timeout"`
	KeepAliveTimeout Duration `json:"keep_alive_timeout"`
	// NoticeAfter is how long an answer may bring nothing before the user is told; 0 means
	// the built-in time.
	NoticeAfter Duration `json:"notice_after"`
	// TextCalls says whether tool calls that a model writes as text are taken: "on", "off"
	// or, like the empty text, "auto".
	TextCalls string `json:"text_calls"`
	// ExtraBody is merged into the body of every request.
	ExtraBody map[string]json.RawMessage `json:"extra_body"`
}
