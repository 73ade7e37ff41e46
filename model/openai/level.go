package openai

import (
	"slices"
	"strconv"

	"acp-agent/model/catalogue"
	"acp-agent/model/wire"
)

// Thinking is a dialect: how a server is told of a thought level.
type Thinking string

// The dialects. Each preset in model/preset names the public source for its own.
const (
	// Effort sends reasoning_effort, which is what OpenAI has.
	Effort Thinking = "effort"
	// EffortObject sends reasoning with an effort in it (OpenRouter).
	EffortObject Thinking = "effort_object"
	// Switch sends thinking with type enabled or disabled, to models that have both, and
	// reasoning_effort for levels (DeepSeek, Kimi, GLM).
	Switch Thinking = "switch"
	// EnableThinking sends enable_thinking, and reasoning_effort for levels (Qwen).
	EnableThinking Thinking = "enable_thinking"
	// Budget sends enable_thinking, and thinking_budget for levels (Qwen before 3.7).
	Budget Thinking = "budget"
	// EnabledObject sends reasoning with enabled in it, and reasoning_effort for levels
	// (Together).
	EnabledObject Thinking = "enabled_object"
	// Template sends chat_template_kwargs with enable_thinking, for servers that fill in
	// the model's own template (vLLM, llama.cpp).
	Template Thinking = "template"
	// NoThinking offers no levels.
	NoThinking Thinking = "none"
)

// budgets are how many tokens a level of the Budget dialect allows.
var budgets = map[string]int{"minimal": 1_024, "low": 4_096, "medium": 12_288, "high": 32_768}

// levels are the thought levels of a model, as far as the dialect can send them.
func (p *Provider) levels(entry catalogue.Entry) []string {
	levels := entry.LevelNames()
	if len(levels) == 0 && !entry.Listed {
		levels = slices.Clone(p.opts.Levels)
	}
	switch p.opts.Thinking {
	case NoThinking:
		return nil
	case Template:
		if len(levels) > 0 {
			return []string{catalogue.Off, catalogue.On}
		}
	case Budget:
		if len(levels) > 0 && entry.Listed {
			return []string{catalogue.Off, "low", "medium", "high"}
		}
	}
	return levels
}

// effortOf is what a server calls a thought level.
func effortOf(entry catalogue.Entry, level string) string {
	value := level
	for _, l := range entry.Levels {
		if l.Name == level {
			value = l.Value
		}
	}
	if level == catalogue.Off && value == catalogue.Off {
		value = "none" // what servers call it that take an effort
	}
	return value
}

// levelParams are the members of a request that set a thought level.
func (p *Provider) levelParams(id, level string) []wire.Param {
	entry, _ := catalogue.Find(p.opts.Catalogue, id)
	value := effortOf(entry, level)
	enabled := level != catalogue.Off
	effort := wire.Param{Name: "reasoning_effort", Text: wire.AppendString(nil, value)}
	var own wire.Param
	switch p.opts.Thinking {
	case Effort, "":
		return []wire.Param{effort}
	case EffortObject:
		text := append(wire.AppendString([]byte(`{"effort":`), value), '}')
		return []wire.Param{{Name: "reasoning", Text: text}}
	case Switch:
		if entry.Listed && !slices.Contains(entry.LevelNames(), catalogue.Off) {
			return []wire.Param{effort} // it always thinks
		}
		kind := "disabled"
		if enabled {
			kind = "enabled"
		}
		own = wire.Param{Name: "thinking", Text: []byte(`{"type":"` + kind + `"}`)}
	case EnableThinking:
		own = wire.Param{Name: "enable_thinking", Text: strconv.AppendBool(nil, enabled)}
	case EnabledObject:
		own = wire.Param{Name: "reasoning", Text: append(strconv.AppendBool([]byte(`{"enabled":`), enabled), '}')}
	case Budget:
		params := []wire.Param{{Name: "enable_thinking", Text: strconv.AppendBool(nil, enabled)}}
		if tokens := budgets[level]; tokens > 0 {
			params = append(params, wire.Param{Name: "thinking_budget", Text: strconv.AppendInt(nil, int64(tokens), 10)})
		}
		return params
	case Template:
		return []wire.Param{{Name: "chat_template_kwargs", Text: append(strconv.AppendBool([]byte(`{"enable_thinking":`), enabled), '}')}}
	case NoThinking:
		return nil
	}
	if !enabled || level == catalogue.On {
		return []wire.Param{own}
	}
	return []wire.Param{own, effort}
}
