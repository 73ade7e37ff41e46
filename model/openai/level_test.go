package openai

import (
	"slices"
	"strings"
	"testing"

	"acp-agent/model"
	"acp-agent/model/preset"
	"acp-agent/model/wire"
)

func TestThinking(t *testing.T) {
	for _, tt := range []struct {
		name      string
		opts      Options
		id, level string
		want      string
	}{
		{"OpenAI", Options{Catalogue: "openai"}, "gpt-5.4", "high", `"reasoning_effort":"high"`},
		{"OpenAI, off", Options{Catalogue: "openai"}, "gpt-5.4", "off", `"reasoning_effort":"none"`},
		{"Groq names levels otherwise", Options{Catalogue: "groq"}, "qwen/qwen3.6-27b", "high", `"reasoning_effort":"default"`},
		{"OpenRouter", Options{Catalogue: "openrouter", Thinking: EffortObject}, "anthropic/claude-opus-5", "low", `"reasoning":{"effort":"low"}`},
		{"DeepSeek", Options{Catalogue: "deepseek", Thinking: Switch}, "deepseek-v4-pro", "max", `"thinking":{"type":"enabled"} "reasoning_effort":"max"`},
		{"DeepSeek, off", Options{Catalogue: "deepseek", Thinking: Switch}, "deepseek-v4-pro", "off", `"thinking":{"type":"disabled"}`},
		{"Kimi, which can be switched", Options{Catalogue: "kimi", Thinking: Switch}, "kimi-k2.6", "on", `"thinking":{"type":"enabled"}`},
		{"Kimi, which always thinks", Options{Catalogue: "kimi", Thinking: Switch}, "kimi-k3", "low", `"reasoning_effort":"low"`},
		{"GLM, off", Options{Catalogue: "glm", Thinking: Switch}, "glm-5.2", "off", `"thinking":{"type":"disabled"}`},
		{"Qwen", Options{Catalogue: "qwen", Thinking: EnableThinking}, "qwen3.6-plus", "on", `"enable_thinking":true`},
		{"Qwen, budget", Options{Catalogue: "qwen", Thinking: Budget}, "qwen3.6-plus", "low", `"enable_thinking":true "thinking_budget":4096`},
		{"Together", Options{Catalogue: "together", Thinking: EnabledObject}, "Qwen/Qwen3.7-Max", "off", `"reasoning":{"enabled":false}`},
		{"vLLM", Options{Thinking: Template}, "any", "off", `"chat_template_kwargs":{"enable_thinking":false}`},
		{"none", Options{Thinking: NoThinking}, "any", "high", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.BaseURL = "http://localhost/v1"
			p, err := New(tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if levels := p.info(tt.id).ThoughtLevels; tt.want != "" && tt.id != "any" && !slices.Contains(levels, tt.level) {
				t.Errorf("the levels %q lack %s", levels, tt.level)
			}
			var got []string
			for _, one := range p.levelParams(tt.id, tt.level) {
				got = append(got, `"`+one.Name+`":`+string(one.Text))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Package preset spells each dialect as this package does.
func TestThinking_Preset(t *testing.T) {
	own := []Thinking{Effort, EffortObject, Switch, EnableThinking, Budget, EnabledObject, Template, NoThinking}
	for i, name := range preset.Dialects() {
		if Thinking(name) != own[i] {
			t.Errorf("package preset has %q for %q", name, own[i])
		}
	}
}

// Levels that the server chose for models which the catalogue does not know are offered.
func TestThinking_Levels(t *testing.T) {
	p, err := New(Options{BaseURL: "http://localhost/v1", Thinking: Template, Levels: []string{"off", "on"}, DefaultWindow: 9000})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	info := p.info("qwen3:8b")
	if !slices.Equal(info.ThoughtLevels, []string{"off", "on"}) || info.Window != 9000 {
		t.Errorf("%+v", info)
	}
	if levels := p.info("gpt-oss:20b").ThoughtLevels; !slices.Equal(levels, []string{"off", "on"}) {
		t.Errorf("a template knows no %q", levels)
	}
}

func TestCacheControl(t *testing.T) {
	p, err := New(Options{BaseURL: "http://localhost/v1", CacheControl: []string{"anthropic/"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for id, want := range map[string]bool{"anthropic/claude-opus-5": true, "openai/gpt-5.4": false} {
		params := p.params(&model.Request{Model: id})
		if got := slices.ContainsFunc(params, func(one wire.Param) bool { return one.Name == "cache_control" }); got != want {
			t.Errorf("%s: %t", id, got)
		}
	}
}
