package openai

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// refusedParam is a parameter that a server did not take for a model.
type refusedParam struct{ model, name string }

// droppable are the parameters that are left away once a server complains of
// them (R66): each is a wish, not a need.
var droppable = []string{
	"stream_options", "max_completion_tokens", "max_tokens", "temperature",
	"reasoning_effort", "parallel_tool_calls", "prompt_cache_key",
	"reasoning", "thinking", "enable_thinking", "thinking_budget", "chat_template_kwargs", "cache_control",
}

// params are the members of the request body other than model, stream, tools
// and messages, without the parameters that the server refused before.
func (p *Provider) params(req *model.Request) []wire.Param {
	params := []wire.Param{{Name: "stream_options", Text: []byte(`{"include_usage":true}`)}}
	if req.Temperature != nil {
		params = append(params, wire.Param{Name: "temperature", Text: strconv.AppendFloat(nil, *req.Temperature, 'f', -1, 64)})
	}
	if req.ThoughtLevel != "" {
		params = append(params, p.levelParams(req.Model, req.ThoughtLevel)...)
	}
	if req.CacheKey != "" && (p.opts.PromptCacheKey || p.Official()) {
		params = append(params, wire.Param{Name: "prompt_cache_key", Text: wire.AppendString(nil, req.CacheKey)})
	}
	if slices.ContainsFunc(p.opts.CacheControl, func(prefix string) bool { return strings.HasPrefix(req.Model, prefix) }) {
		params = append(params, wire.Param{Name: "cache_control", Text: []byte(`{"type":"ephemeral"}`)})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if req.MaxTokens > 0 {
		params = append(params, wire.Param{Name: p.limitName(req.Model), Text: strconv.AppendInt(nil, int64(req.MaxTokens), 10)})
	}
	params = wire.WithExtra(params, p.extra)
	return slices.DeleteFunc(params, func(one wire.Param) bool { return p.dropped[refusedParam{req.Model, one.Name}] })
}

// limitName is what the server calls the token limit; the caller holds mu.
func (p *Provider) limitName(id string) string {
	names := []string{"max_tokens", "max_completion_tokens"}
	if p.Official() {
		slices.Reverse(names)
	}
	if p.dropped[refusedParam{id, names[0]}] {
		return names[1]
	}
	return names[0]
}

// dropRefused notes the parameter that err complains of, if there is one among
// those sent, and reports whether the request is worth another try. One that belongs into
// another API is not.
func (p *Provider) dropRefused(id string, sent []wire.Param, err error) bool {
	var e *model.Error
	var d *wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.Status != 400 && e.Status != 422 || d.WantsResponses() {
		return false
	}
	for _, name := range droppable {
		if !slices.ContainsFunc(sent, func(one wire.Param) bool { return one.Name == name }) || !d.Names(name) {
			continue
		}
		p.opts.Logger.Debug("model server refused a parameter", "model", id, "parameter", name)
		p.mu.Lock()
		p.dropped[refusedParam{id, name}] = true
		p.mu.Unlock()
		return true
	}
	return false
}

// appendTools writes the tools member, or nothing when there are none.
func appendTools(b []byte, tools []model.Tool) []byte {
	if len(tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i, tool := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = wire.AppendString(b, tool.Name)
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, tool.Description)
		b = append(b, `,"parameters":`...)
		b = wire.AppendSchema(b, tool.Parameters)
		b = append(b, `}}`...)
	}
	return append(b, ']')
}

func sameTools(a, b []model.Tool) bool {
	return slices.EqualFunc(a, b, func(x, y model.Tool) bool {
		return x.Name == y.Name && x.Description == y.Description && string(x.Parameters) == string(y.Parameters)
	})
}
