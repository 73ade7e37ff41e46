package preset

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

//go:embed presets/*.jsonc
var files embed.FS

// Preset is what is known of a model server.
type Preset struct {
	// Name is that of the file, Title the one for users.
	Name  string `json:"-"`
	Title string `json:"title"`
	// BaseURL is its address; empty where each customer has another.
	BaseURL string `json:"base_url"`
	// KeyEnv is the variable that usually holds its key, KeyURL where a user gets one.
	KeyEnv string `json:"key_env"`
	KeyURL string `json:"key_url"`
	// NeedsKey says that it answers no request without a key.
	NeedsKey bool `json:"needs_key"`
	// API is one of APIs; empty means Chat.
	API string `json:"api"`
	// Responses are beginnings of the ids of models that are to be asked in the Responses
	// API: they exist there alone, or do best there.
	Responses []string `json:"responses"`
	// Thinking is the dialect in which a request names a thought level; Levels are the levels of
	// models for which the model catalogue has none.
	Thinking string   `json:"thinking"`
	Levels   []string `json:"levels"`
	// Headers are sent with each request.
	Headers map[string]string `json:"headers"`
	// CacheControl are beginnings of the ids of models for which it has to be asked to
	// cache prompts.
	CacheControl []string `json:"cache_control"`
	// ListedOnly says that it takes calls of those tools alone that the request lists.
	ListedOnly bool `json:"listed_only"`
	// Owners says that ids of models hold the owner's name before a slash.
	Owners bool `json:"owners"`
	// Discover is false where its list of models is not what the user can use.
	Discover *bool `json:"discover"`
	// Local says that it runs on the user's machine, and needs patience instead of a key.
	Local bool `json:"local"`
	// Check is the path of a request that costs nothing and that a wrong key fails.
	Check string `json:"check"`
	// Model is the model of new sessions where none is named; empty means that the
	// server's list decides.
	Model string `json:"model"`
	// Sources are the public pages that say all this.
	Sources []string `json:"sources"`
}

// The APIs of model servers.
const (
	Chat      = "chat"
	Responses = "responses"
	Anthropic = "anthropic"
)

// APIs are all of them.
func APIs() []string { return []string{Chat, Responses, Anthropic} }

// Dialects are the ways to send a thought level, as package model/openai has them.
func Dialects() []string {
	return []string{"effort", "effort_object", "switch", "enable_thinking", "budget", "enabled_object", "template", "none"}
}

// order is that in which presets are offered; a test holds it complete.
var order = []string{
	"openai", "anthropic", "openrouter", "gemini", "deepseek", "kimi", "glm", "qwen", "mistral", "xai", "groq", "together",
	"azure", "ollama", "llama.cpp", "lmstudio", "vllm",
}

// All returns the presets in the order in which they are offered.
func All() []Preset { return slices.Clone(load()) }

var load = sync.OnceValue(func() []Preset {
	var all []Preset
	for _, name := range order {
		if p, err := read(name); err == nil { // a test reads them all
			all = append(all, p)
		}
	}
	return all
})

func read(name string) (Preset, error) {
	p := Preset{Name: name}
	data, err := files.ReadFile(path.Join("presets", name+".jsonc"))
	if err != nil {
		return p, err
	}
	data, err = hujson.Standardize(data)
	if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	return p, json.Unmarshal(data, &p)
}

// Names are the names of all presets.
func Names() []string { return slices.Clone(order) }

// Find returns the preset with a name.
func Find(name string) (Preset, bool) {
	i := slices.IndexFunc(load(), func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return load()[i], true
}

// At returns the preset of an address, for a server that only its address names.
func At(baseURL string) (Preset, bool) {
	baseURL = strings.TrimSuffix(baseURL, "/")
	i := slices.IndexFunc(load(), func(p Preset) bool { return p.BaseURL != "" && p.BaseURL == baseURL })
	if i < 0 {
		return Preset{}, false
	}
	return load()[i], true
}

// Caches reports whether the server has to be asked to cache prompts of a model.
func (p Preset) Caches(model string) bool {
	return slices.ContainsFunc(p.CacheControl, func(prefix string) bool { return strings.HasPrefix(model, prefix) })
}
