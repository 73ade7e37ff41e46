package config_test

import (
	"slices"
	"strings"
	"testing"

	"acp-agent/config"
)

func TestProviders_Preset(t *testing.T) {
	cfg := load(t, map[string]string{"DEEPSEEK_API_KEY": "from-env", "WORK": "from-work"}, map[string]string{userFile: `{"providers": {
		"deepseek": {"api_key": "from-file"},
		"moon": {"preset": "kimi", "api_key": "k", "base_url": "https://api.moonshot.cn/v1/", "thinking": "none"},
		"work": {"base_url": "http://10.0.0.1/v1", "api_key_env": "WORK", "headers": {"X-Api-Key": "Token of-header"}, "models": ["m"]},
		"ollama": {"models": ["a", "b"], "discover": true},
		"azure": {"base_url": "https://x.openai.azure.com/openai/v1"},
	}}`})
	for _, tt := range []struct {
		name, url, key, origin, thinking, missing string
		discovers                                 bool
	}{
		{"deepseek", "https://api.deepseek.com", "from-env", "DEEPSEEK_API_KEY", "switch", "", true},
		{"moon", "https://api.moonshot.cn/v1", "k", "providers.moon.api_key", "none", "", true},
		{"work", "http://10.0.0.1/v1", "from-work", "WORK", "", "", false},
		{"ollama", "http://localhost:11434/v1", "", "", "effort", "", true},
		{"azure", "https://x.openai.azure.com/openai/v1", "", "", "effort", "it needs a key: set AZURE_OPENAI_API_KEY", false},
	} {
		p := cfg.Providers[tt.name]
		if p.BaseURL != tt.url || p.APIKey.Reveal() != tt.key || p.KeyOrigin != tt.origin || p.Thinking != tt.thinking ||
			p.Missing() != tt.missing || p.Discovers() != tt.discovers || p.API != "" {
			t.Errorf("%s is %+v with the key %q of %q, lacks %q", tt.name, p, p.APIKey.Reveal(), p.KeyOrigin, p.Missing())
		}
	}
	for _, secret := range []string{"from-env", "from-work", "k", "Token of-header"} {
		if !slices.Contains(cfg.Secrets(), secret) || !slices.Contains(cfg.Keys(), secret) {
			t.Errorf("%q is not kept secret: %q, %q", secret, cfg.Secrets(), cfg.Keys())
		}
	}
	if !slices.Contains(cfg.Keys(), "of-header") {
		t.Errorf("keys %q", cfg.Keys())
	}
}

// The model section is a server of its own when something of it is set, and always when
// it is the only one.
func TestProviders_ModelSection(t *testing.T) {
	const two = `"providers": {"deepseek": {}}`
	for _, tt := range []struct {
		text string
		env  map[string]string
		want bool
	}{
		{`{}`, nil, true},
		{`{` + two + `}`, nil, false},
		{`{"model": {"name": "deepseek/x", "thought_level": "low"}, ` + two + `}`, nil, false},
		{`{` + two + `}`, map[string]string{config.EnvAPIKey: "k"}, true},
		{`{` + two + `}`, map[string]string{config.EnvBaseURL: "http://h/v1"}, true},
		{`{"model": {"api_key": "k"}, ` + two + `}`, nil, true},
		{`{"model": {"base_url": "http://h/v1"}, ` + two + `}`, nil, true},
	} {
		if got := load(t, tt.env, map[string]string{userFile: tt.text}).ModelSection(); got != tt.want {
			t.Errorf("%s with %v: %t", tt.text, tt.env, got)
		}
	}
}

func TestProviders_Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{"a/b": {"base_url": "http://h/v1"}}`:           "may hold neither a slash nor blanks",
		`{"": {"base_url": "http://h/v1"}}`:              "may hold neither a slash nor blanks",
		`{"mine": {}}`:                                   "providers.mine: needs a base_url, or a preset: openai, ",
		`{"mine": {"preset": "nope"}}`:                   "providers.mine.preset: must be one of openai, ",
		`{"azure": {}}`:                                  "providers.azure.base_url: is missing",
		`{"mine": {"base_url": "h"}}`:                    "providers.mine.base_url: expects",
		`{"deepseek": {"api": "soap"}}`:                  "providers.deepseek.api: ",
		`{"deepseek": {"thinking": "hard"}}`:             "providers.deepseek.thinking: ",
		`{"deepseek": {"headers": {"a b": "x"}}}`:        "providers.deepseek.headers.a b: ",
		`{"deepseek": {"api_key_env": "sk= x"}}`:         "providers.deepseek.api_key_env: ",
		`{"deepseek": {"api_key": "a\nb"}}`:              "providers.deepseek.api_key: ",
		`{"deepseek": {"models": [""]}}`:                 "providers.deepseek.models: ",
		`{"deepseek": {"window": -1}}`:                   "providers.deepseek.window: ",
		`{"deepseek": {"windows": {"m": 0}}}`:            "providers.deepseek.windows.m: ",
		`{"deepseek": {"prices": {"m": {"input": -1}}}}`: "providers.deepseek.prices.m.input: ",
	} {
		_, err := config.Load(sources(nil, map[string]string{userFile: `{"providers": ` + text + `}`}), "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk=") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	_, err := config.Load(sources(nil, map[string]string{projectFile: `{"providers": {"deepseek": {"base_url": "http://evil/v1"}}}`}), workspace)
	if err == nil || !strings.Contains(err.Error(), "providers: is not for a project to set") {
		t.Errorf("of a project: %v", err)
	}
}
