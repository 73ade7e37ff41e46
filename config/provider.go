package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"acp-agent/internal/redact"
	"acp-agent/model/preset"
)

// Provider is a model server beside that of the model section. Its models are named
// "provider/model". What it leaves open is as its preset has it.
type Provider struct {
	// Preset is a name of package model/preset; empty means the provider's own name, if a
	// preset has that.
	Preset string `json:"preset"`
	// BaseURL, APIKey and APIKeyEnv mean what they do in Model.
	BaseURL   string  `json:"base_url"`
	APIKey    Secret  `json:"api_key"`
	APIKeyEnv *string `json:"api_key_env"`
	// API is one of preset.APIs; "" is what the preset says, and preset.Chat without one.
	API string `json:"api"`
	// Headers are sent with every request, ExtraBody is merged into its body.
	Headers   map[string]Secret          `json:"headers"`
	ExtraBody map[string]json.RawMessage `json:"extra_body"`
	// Models are the models on offer; without any the server is asked for its list.
	Models []string `json:"models"`
	// Discover says whether the server is asked all the same, or never.
	Discover *bool `json:"discover"`
	// Windows, Images and Prices are by model, Window is for those without one.
	Window  int              `json:"window"`
	Windows map[string]int   `json:"windows"`
	Images  map[string]bool  `json:"images"`
	Prices  map[string]Price `json:"prices"`
	// Thinking is the dialect in which a thought level is sent.
	Thinking string `json:"thinking"`
	// The limits of patience are those of Model.
	IdleTimeout  Duration `json:"idle_timeout"`
	StartTimeout Duration `json:"start_timeout"`

	// Known is its preset; the zero Preset when it has none.
	Known preset.Preset `json:"-"`
	// KeyOrigin says where the key was named; empty means that there is none.
	KeyOrigin string `json:"-"`
}

// ModelSection reports whether the model section names a server to use: always when
// there are no providers, else when its address, a key or a header was set.
func (c *Config) ModelSection() bool {
	m := c.Model
	return len(c.Providers) == 0 || m.Origin.Server != "" || m.Origin.Key != "" || !m.APIKey.IsZero() || len(m.Headers) > 0
}

// KeyVariable is the variable that may hold its key; empty means none.
func (p *Provider) KeyVariable() string {
	if p.APIKeyEnv != nil {
		return *p.APIKeyEnv
	}
	return p.Known.KeyEnv
}

// Missing says what a provider lacks to be used, in words for the user; empty means
// nothing.
func (p *Provider) Missing() string {
	if !p.Known.NeedsKey || !p.APIKey.IsZero() || len(p.Headers) > 0 {
		return ""
	}
	if name := p.KeyVariable(); name != "" {
		return "it needs a key: set " + name
	}
	return "it needs a key: set its api_key"
}

// Discovers says whether the server is asked for its models.
func (p *Provider) Discovers() bool {
	switch {
	case p.Discover != nil:
		return *p.Discover
	case len(p.Models) > 0:
		return false
	case p.Known.Discover != nil:
		return *p.Known.Discover
	}
	return true
}

// checkProviders checks the providers of the user's file and fills in their presets.
func (f *file) checkProviders(providers map[string]Provider) error {
	for _, name := range sortedKeys(providers) {
		p := providers[name]
		if err := f.checkProvider("providers."+name, name, &p); err != nil {
			return err
		}
		providers[name] = p
	}
	return nil
}

func (f *file) checkProvider(field, name string, p *Provider) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '/' || r == 0x7f }) {
		return f.errorf(field, "a provider's name is written before a slash: it may hold neither a slash nor blanks")
	}
	if err := f.applyPreset(field, name, p); err != nil {
		return err
	}
	url, problem := BaseURL(p.BaseURL)
	if p.BaseURL == "" {
		problem = "is missing; this provider has no address of its own"
	}
	if problem != "" {
		return f.errorf(field+".base_url", "%s", problem)
	}
	p.BaseURL = url
	if err := f.problem(field+".api", oneOf(p.API, append(preset.APIs(), "")...)); err != nil {
		return err
	}
	if err := f.problem(field+".thinking", oneOf(p.Thinking, append(preset.Dialects(), "")...)); err != nil {
		return err
	}
	if err := f.checkHeaders(field, p.Headers); err != nil {
		return err
	}
	if p.APIKeyEnv != nil && strings.ContainsAny(*p.APIKeyEnv, "= \t\r\n\x00") {
		return f.errorf(field+".api_key_env", "expects the name of a variable; the key itself belongs in api_key")
	}
	if err := f.checkHeaderValue(field+".api_key", p.APIKey); err != nil {
		return err
	}
	if !p.APIKey.IsZero() {
		p.KeyOrigin = field + ".api_key"
	}
	if slices.Contains(p.Models, "") {
		return f.errorf(field+".models", "expects ids of models, found an empty text")
	}
	if p.Window < 0 {
		return f.errorf(field+".window", "must not be negative, found %d", p.Window)
	}
	if err := f.checkWindows(field, p.Windows); err != nil {
		return err
	}
	return f.checkPrices(field, p.Prices)
}

// applyPreset fills in what the preset of a provider says, where the file is silent.
func (f *file) applyPreset(field, name string, p *Provider) error {
	known, found := preset.Find(p.Preset)
	if p.Preset == "" {
		known, found = preset.Find(name)
	} else if !found {
		return f.errorf(field+".preset", "must be one of %s, found %q", strings.Join(preset.Names(), ", "), p.Preset)
	}
	if !found && p.BaseURL == "" {
		return f.errorf(field, "needs a base_url, or a preset: %s", strings.Join(preset.Names(), ", "))
	}
	p.Known = known
	if p.BaseURL == "" {
		p.BaseURL = known.BaseURL
	}
	if p.Thinking == "" {
		p.Thinking = known.Thinking
	}
	return nil
}

// loadProviderKeys fills in the keys that the environment holds; they win over those of
// the file, as with Model.
func (s Sources) loadProviderKeys(providers map[string]Provider) {
	for name, p := range providers {
		variable := p.KeyVariable()
		if variable == "" {
			continue
		}
		if key := NewSecret(s.getenv(variable)); !key.IsZero() {
			p.APIKey, p.KeyOrigin = key, variable
			providers[name] = p
		}
	}
}

// keys are the values that are keys, as with Model.
func (p Provider) keys() []string { return serverKeys(p.APIKey, p.Headers) }

// secrets are all its secret values.
func (p Provider) secrets() []string {
	values := []string{}
	if !p.APIKey.IsZero() {
		values = append(values, p.APIKey.Reveal())
	}
	for _, name := range sortedKeys(p.Headers) {
		if h := p.Headers[name]; !h.IsZero() {
			values = append(values, h.Reveal())
		}
	}
	return values
}

// serverKeys are those values of a model server that are keys: a header's only where its
// name says so.
func serverKeys(key Secret, headers map[string]Secret) []string {
	var keys []string
	if !key.IsZero() {
		keys = append(keys, key.Reveal())
	}
	for _, name := range sortedKeys(headers) {
		if !redact.NamesKey(name) {
			continue
		}
		value := headers[name].Reveal()
		keys = append(keys, value)
		if _, credentials, found := strings.Cut(value, " "); found {
			keys = append(keys, credentials)
		}
	}
	return keys
}

// checkHeaders checks names and values of headers below a field.
func (f *file) checkHeaders(field string, headers map[string]Secret) error {
	for _, name := range sortedKeys(headers) {
		at := field + ".headers." + name
		if !isHeaderName(name) {
			return f.errorf(at, "is no valid name of an HTTP header")
		}
		if err := f.checkHeaderValue(at, headers[name]); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) checkWindows(field string, windows map[string]int) error {
	for _, name := range sortedKeys(windows) {
		if w := windows[name]; w < 1 {
			return f.errorf(fmt.Sprintf("%s.windows.%s", field, name), "must be 1 or more, found %d", w)
		}
	}
	return nil
}
